//! Workers that come back late: that it is there counts, whatever else they heard does not.

use countersign::bounded::{Currency, IntentId, Tenant};
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::delivery::{Claim, Claimed, Found, Provider, Record, Sent, Terms, Ticket, Unsayable};
use countersign::operation::State;
use refunds::{Order, Refund};
use tests::accounts::past;
use tests::worker::{Submitted, target};
use tests::{App, quiet, run};

/// A provider that is never asked: the test says itself what its workers heard.
struct Unasked;

impl Provider<Refund> for Unasked {
    const TERMS: Terms = Terms { duplicate_window: None, lookup_lag: None, compares_body: true };

    fn request(&self, _: &Tenant, intent: &IntentId, refund: &Refund) -> Result<String, Unsayable> {
        Ok(format!("refund {} of {intent}", refund.order_id))
    }

    async fn send(&self, _: &IntentId, _: &str, _: i64) -> Sent {
        panic!("nothing is sent here")
    }

    async fn look_up(&self, _: &IntentId, _: &str) -> Found {
        panic!("nothing is looked up here")
    }
}

/// A refund of 2,000 out of 5,000 that was accepted and not sent.
async fn waiting(app: &App) -> (Order, Submitted) {
    let order = app.order("acme", Currency::Eur, 5_000).await;
    let refund = app.submitted(&order, 2_000).await;
    (order, refund)
}

/// A worker takes the operation.
async fn claim(app: &App, refund: &Submitted) -> Ticket<Refund> {
    let claim = Claim::new(target(&refund.operation), &Unasked, app.gateway.consent_keys()).unwrap();
    match execute(app.gateway.ledger(), &Timestamp::now, &claim).await.unwrap() {
        Claimed::Ticket(ticket) => *ticket,
        Claimed::Nothing(state) => panic!("there was nothing to send: {state}"),
    }
}

/// The same worker's ticket once more: what it does twice, or what a copy of it does.
fn copy(ticket: &Ticket<Refund>) -> Ticket<Refund> {
    Ticket { operation: ticket.operation.clone(), request: ticket.request.clone() }
}

/// A worker reports what it heard, and learns where the operation stands.
async fn report(app: &App, ticket: Ticket<Refund>, sent: Sent) -> State {
    execute(app.gateway.ledger(), &Timestamp::now, &Record::new(ticket, sent).unwrap()).await.unwrap().state
}

fn happened() -> Sent {
    Sent::Happened("re_1".to_owned())
}

fn accepted() -> Sent {
    Sent::Accepted("re_1".to_owned())
}

/// What a late worker may say that does not count while another one is at it.
fn denials() -> [Sent; 4] {
    let text = || "late".to_owned();
    [Sent::Refused(text()), Sent::NotExecuted(text()), Sent::Unknown(text()), accepted()]
}

/// The balances alone: there is no provider here to agree with.
async fn balances(app: &App, order: &Order) -> (i64, i64, i64) {
    let now = app.order_now("acme", &order.id).await;
    (now.refundable_minor.get(), now.reserved_minor.get(), now.refunded_minor.get())
}

/// Two workers: the first one's request was not executed as far as it heard, then a second one took over.
async fn overtaken(app: &App) -> (Order, Submitted, Ticket<Refund>, Ticket<Refund>) {
    let (order, refund) = waiting(app).await;
    let first = claim(app, &refund).await;
    assert_eq!(report(app, copy(&first), Sent::NotExecuted("429".to_owned())).await, State::Queued);
    app.edit(&refund.operation, |step| step.set("due_at", past())).await;
    let second = claim(app, &refund).await;
    assert_eq!((first.operation.fence, second.operation.fence), (1, 2));
    assert_eq!(first.request, second.request);
    (order, refund, first, second)
}

#[test]
fn a_late_success_of_an_earlier_worker_is_evidence_and_is_booked_once() {
    run(async {
        let app = quiet().await;
        let (order, refund, first, second) = overtaken(app).await;
        assert_eq!(report(app, copy(&first), happened()).await, State::Succeeded);
        assert_eq!(balances(app, &order).await, (3_000, 0, 2_000));
        // The provider gives the second worker the first one's answer, for it was the same key.
        assert_eq!(report(app, copy(&second), happened()).await, State::Succeeded);
        assert_eq!(report(app, first, happened()).await, State::Succeeded);
        for denial in denials() {
            assert_eq!(report(app, copy(&second), denial).await, State::Succeeded);
        }
        assert_eq!(balances(app, &order).await, (3_000, 0, 2_000));
        assert_eq!(app.operation(&refund.operation).await.reference.as_deref(), Some("re_1"));
    });
}

#[test]
fn a_late_failure_of_an_earlier_worker_releases_nothing() {
    run(async {
        let app = quiet().await;
        let (order, refund, first, second) = overtaken(app).await;
        for denial in denials() {
            assert_eq!(report(app, copy(&first), denial).await, State::Sending);
        }
        let operation = app.operation(&refund.operation).await;
        assert_eq!((operation.fence, operation.reason.as_deref()), (2, Some("429")));
        assert_eq!(balances(app, &order).await, (3_000, 2_000, 0));
        // The second worker still holds it.
        assert_eq!(report(app, second, happened()).await, State::Succeeded);
        assert_eq!(balances(app, &order).await, (3_000, 0, 2_000));
    });
}

#[test]
fn a_worker_whose_lease_lapsed_can_still_prove_that_it_is_there_and_nothing_else() {
    run(async {
        let app = quiet().await;
        let (order, refund) = waiting(app).await;
        let ticket = claim(app, &refund).await;
        app.edit(&refund.operation, |step| step.set("lease_until", past())).await;
        assert_eq!(app.deliver(&refund.operation).await, State::Unknown);
        for denial in [Sent::Refused("late".to_owned()), Sent::NotExecuted("late".to_owned())] {
            assert_eq!(report(app, copy(&ticket), denial).await, State::Unknown);
        }
        assert_eq!(report(app, copy(&ticket), accepted()).await, State::Settling);
        assert_eq!(app.operation(&refund.operation).await.reference.as_deref(), Some("re_1"));
        assert_eq!(balances(app, &order).await, (3_000, 2_000, 0));
        assert_eq!(report(app, ticket, happened()).await, State::Succeeded);
        assert_eq!(balances(app, &order).await, (3_000, 0, 2_000));
    });
}

#[test]
fn a_refund_that_is_there_although_it_failed_is_marked_and_moves_no_balance() {
    run(async {
        let app = quiet().await;
        for there in [happened(), accepted()] {
            let (order, refund, first, second) = overtaken(app).await;
            assert_eq!(report(app, second, Sent::Refused("card_declined".to_owned())).await, State::Failed);
            assert_eq!(balances(app, &order).await, (5_000, 0, 0));
            assert!(!app.operation(&refund.operation).await.conflict);
            assert_eq!(report(app, first, there).await, State::Failed);
            assert!(app.operation(&refund.operation).await.conflict);
            assert_eq!(balances(app, &order).await, (5_000, 0, 0));
        }
    });
}

#[test]
fn what_waits_to_be_sent_again_and_is_there_after_all_is_not_sent_again() {
    run(async {
        let app = quiet().await;
        let (order, refund, first, second) = overtaken(app).await;
        assert_eq!(report(app, second, Sent::NotExecuted("429".to_owned())).await, State::Queued);
        assert_eq!(report(app, first, accepted()).await, State::Settling);
        app.insist(&refund.operation).await;
        let operation = app.operation(&refund.operation).await;
        assert_eq!((operation.state, operation.attempts, operation.fence), (State::Settling, 2, 2));
        assert_eq!(balances(app, &order).await, (3_000, 2_000, 0));
    });
}

#[test]
fn while_a_worker_holds_the_lease_no_other_gets_in() {
    run(async {
        let app = quiet().await;
        let (order, refund) = waiting(app).await;
        let ticket = claim(app, &refund).await;
        app.insist(&refund.operation).await;
        let operation = app.operation(&refund.operation).await;
        assert_eq!((operation.state, operation.fence, operation.attempts), (State::Sending, 1, 1));
        assert_eq!(operation.request.as_deref(), Some(&*ticket.request));
        assert_eq!((balances(app, &order).await, app.requests(&refund.proposal)), ((3_000, 2_000, 0), 0));
    });
}
