//! What became of a refund: who found it out, and what comes of an approval that was taken back after it was sent.

use countersign::bounded::{Currency, IntentId, OperationId};
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::consent::{Approver, Revoke};
use countersign::delivery::{Resolution, Resolve};
use countersign::operation::State;
use local::provider::Behavior;
use refunds::Refund;
use tests::worker::Submitted;
use tests::{App, quiet, run};

use crate::person::Person;

/// Takes the approval back as two people at once may: after it was sent.
async fn taken_back(app: &App, refund: &Submitted) {
    let by = Approver(app.caller("acme-approver"));
    let revoke = Revoke::new(&by, IntentId::parse(&refund.proposal).unwrap());
    execute(app.gateway.ledger(), &Timestamp::now, &revoke).await.unwrap();
}

/// A refund that an operator has to look at: its approval was taken back after a try without effect.
async fn waiting(app: &App) -> Submitted {
    let order = app.order("acme", Currency::Eur, 9_000).await;
    app.gateway.provider().script(order.payment.as_str(), Behavior::TooManyRequests);
    let refund = app.submitted(&order, 1_000).await;
    assert_eq!(app.deliver(&refund.operation).await, State::Queued);
    taken_back(app, &refund).await;
    app.insist(&refund.operation).await;
    assert_eq!(app.operation(&refund.operation).await.state, State::NeedsOperator);
    refund
}

#[test]
fn of_what_was_sent_it_is_said_that_the_approval_was_taken_back_and_what_comes_of_it() {
    run(async {
        let app = quiet().await;
        let person = Person::signed_in(app, "acme-approver").await;
        let order = app.order("acme", Currency::Eur, 9_000).await;
        app.gateway.provider().script(order.payment.as_str(), Behavior::DropAfter);
        let refund = app.submitted(&order, 1_000).await;
        assert_eq!(app.deliver(&refund.operation).await, State::Unknown);
        assert!(!person.look(&refund.proposal).await.body.contains("taken back"));
        taken_back(app, &refund).await;
        const NOT_AGAIN: &str = "Its approval was taken back meanwhile: if it turns out not to be there, it is not \
            sent again, and an operator has to close it.";
        const TOO_LATE: &str = "Its approval was taken back, too late to stop it.";
        for (state, told) in [
            (State::Unknown, NOT_AGAIN),
            (State::Sending, NOT_AGAIN),
            (State::Settling, TOO_LATE),
            (State::Succeeded, TOO_LATE),
        ] {
            app.edit(&refund.operation, |step| step.set("state", state.as_str())).await;
            let shown = person.look(&refund.proposal).await.body;
            assert!(shown.contains(told), "{state}: {shown}");
        }
        let shown = person.look(&waiting(app).await.proposal).await.body;
        assert!(shown.contains("Its approval was taken back: it is not sent again."), "{shown}");
    });
}

#[test]
fn what_an_operator_found_out_is_said_to_be_an_operators_word() {
    run(async {
        let app = quiet().await;
        let person = Person::signed_in(app, "acme-approver").await;
        for (resolution, told) in [
            (Resolution::Failed, "An operator found that nothing was refunded."),
            (Resolution::Succeeded, "An operator found that the refund was carried out."),
        ] {
            let refund = waiting(app).await;
            let (by, id) = (app.caller("acme-operator"), OperationId::parse(&refund.operation).unwrap());
            let resolve = Resolve::<Refund>::new(&by, id, resolution, "the dashboard shows it").unwrap();
            execute(app.gateway.ledger(), &Timestamp::now, &resolve).await.unwrap();
            let shown = person.look(&refund.proposal).await.body;
            assert!(shown.contains(told) && !shown.contains("The payment provider refused it"), "{shown}");
        }
        // What the provider itself has said stays its word.
        for (behavior, told) in [
            (Behavior::Decline, "The payment provider refused it; nothing was refunded."),
            (Behavior::Succeed, "The refund was carried out."),
        ] {
            let order = app.order("acme", Currency::Eur, 9_000).await;
            app.gateway.provider().script(order.payment.as_str(), behavior);
            let refund = app.submitted(&order, 1_000).await;
            assert!(app.deliver(&refund.operation).await.is_final());
            let shown = person.look(&refund.proposal).await.body;
            assert!(shown.contains(told) && !shown.contains("An operator found"), "{shown}");
        }
    });
}
