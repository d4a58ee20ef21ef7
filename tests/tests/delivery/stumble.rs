//! A ledger that stumbles between the provider's word and its being written down.

use countersign::bounded::Currency;
use countersign::operation::State;
use local::tap::{Fault, Rule};
use tests::worker::WORKER;
use tests::{App, run};

#[test]
fn what_the_provider_said_is_written_down_although_the_ledger_stumbles() {
    run(async {
        let app = App::quiet_and_tapped().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let warm = app.submitted(&order, 1_000).await;
        assert_eq!(app.deliver(&warm.operation).await, State::Succeeded);
        let refund = app.submitted(&order, 2_000).await;
        // The first read is the claim's; the second is the outcome's, and fails as often as the SDK tries.
        let stumble = Rule::next(WORKER, "GetItem", Fault::ServerError).after(1).times(3);
        app.gateway.taps().unwrap().database.inject(stumble);
        assert_eq!(app.deliver(&refund.operation).await, State::Succeeded);
        assert_eq!((app.balances(&order).await, app.effects(&order)), ((2_000, 0, 3_000), 2));
        app.stop().await;
    });
}

#[test]
fn a_claim_whose_reply_was_lost_is_recognized_and_sent_at_once() {
    run(async {
        let app = App::quiet_and_tapped().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let warm = app.submitted(&order, 1_000).await;
        assert_eq!(app.deliver(&warm.operation).await, State::Succeeded);
        let refund = app.submitted(&order, 2_000).await;
        // The claim is written and its reply lost; all that the SDK tries after that finds the database down.
        let taps = app.gateway.taps().unwrap();
        taps.database.inject(Rule::next(WORKER, "TransactWriteItems", Fault::LoseReply));
        taps.database.inject(Rule::next(WORKER, "TransactWriteItems", Fault::ServerError).after(1).times(2));
        assert_eq!(app.deliver(&refund.operation).await, State::Succeeded);
        assert_eq!(app.operation(&refund.operation).await.attempts, 1);
        assert_eq!((app.balances(&order).await, app.requests(&refund.proposal)), ((2_000, 0, 3_000), 1));
        app.stop().await;
    });
}
