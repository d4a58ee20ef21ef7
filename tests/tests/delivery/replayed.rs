//! Answers that the provider gives again: they tell of the past, so a success in them is looked up before it is believed.

use countersign::bounded::Currency;
use countersign::operation::State;
use local::provider::{Behavior, LookupBehavior};
use refunds::Order;
use tests::accounts::past;
use tests::worker::Submitted;
use tests::{App, quiet, run};

/// The schedules run once more when everything that this refund waits for is over.
async fn later(app: &App, refund: &Submitted) -> State {
    app.edit(&refund.operation, |step| step.set("due_at", past())).await;
    app.gateway.sweep().await;
    app.operation(&refund.operation).await.state
}

/// A refund of 2,000 out of 5,000 that was made, of which the reply was lost, and which two lookups did not show: it waits
/// to be sent again.
async fn made_and_missed(app: &App) -> (Order, Submitted) {
    let order = app.order("acme", Currency::Eur, 5_000).await;
    let payment = order.payment.as_str();
    app.gateway.provider().script(payment, Behavior::DropAfter);
    (0..2).for_each(|_| app.gateway.provider().lookup_script(payment, LookupBehavior::Hide));
    let refund = app.submitted(&order, 2_000).await;
    assert_eq!(app.deliver(&refund.operation).await, State::Unknown);
    app.edit(&refund.operation, |step| step.set("lease_until", past())).await;
    assert_eq!(later(app, &refund).await, State::Unknown);
    app.edit(&refund.operation, |step| step.set("absent_since", past()).set("due_at", past())).await;
    app.raw("reconcile_refunds", "{}", None).await;
    assert_eq!(app.operation(&refund.operation).await.state, State::Queued);
    (order, refund)
}

/// It is sent again, and what is answered is taken for an acceptance.
async fn is_accepted(app: &App, order: &Order, refund: &Submitted, requests: usize) {
    assert_eq!(app.deliver(&refund.operation).await, State::Settling);
    let operation = app.operation(&refund.operation).await;
    let made = &app.gateway.provider().effects(order.payment.as_str())[0];
    assert_eq!((operation.reference.as_deref(), operation.reason), (Some(made.id.as_str()), None));
    assert_eq!((app.requests(&refund.proposal), app.effects(order)), (requests, 1));
    assert_eq!(app.balances(order).await, (3_000, 2_000, 0));
}

#[test]
fn a_success_that_is_given_again_and_has_come_back_since_is_not_booked() {
    run(async {
        let app = quiet().await;
        let (order, refund) = made_and_missed(app).await;
        app.gateway.provider().come_back(order.payment.as_str()).unwrap();
        is_accepted(app, &order, &refund, 2).await;
        assert_eq!(later(app, &refund).await, State::Failed);
        assert_eq!((app.requests(&refund.proposal), app.balances(&order).await), (2, (5_000, 0, 0)));
    });
}

#[test]
fn a_success_that_is_given_again_and_stands_is_booked_once_it_was_looked_up() {
    run(async {
        let app = quiet().await;
        let (order, refund) = made_and_missed(app).await;
        is_accepted(app, &order, &refund, 2).await;
        assert_eq!(later(app, &refund).await, State::Succeeded);
        assert_eq!((app.requests(&refund.proposal), app.balances(&order).await), (2, (3_000, 0, 2_000)));
    });
}

#[test]
fn a_restored_ledger_does_not_take_an_answer_of_long_ago_for_the_present() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        app.gateway.provider().script(order.payment.as_str(), Behavior::DropAfter);
        let refund = app.submitted(&order, 2_000).await;
        assert_eq!(app.deliver(&refund.operation).await, State::Unknown);
        app.gateway.provider().come_back(order.payment.as_str()).unwrap();
        // As it was before the first attempt.
        let forget = ["request", "first_sent_at", "lease_until", "reason"];
        app.edit(&refund.operation, |step| {
            let shard = "submit_refund-dispatch-0";
            let step = step.set("state", "queued").set("attempts", 0).set("fence", 0).set("due_shard", shard);
            forget.iter().fold(step, |step, name| step.remove(name))
        })
        .await;
        is_accepted(app, &order, &refund, 2).await;
        assert_eq!(app.operation(&refund.operation).await.attempts, 1);
        assert_eq!(later(app, &refund).await, State::Failed);
        assert_eq!(app.balances(&order).await, (5_000, 0, 0));
    });
}
