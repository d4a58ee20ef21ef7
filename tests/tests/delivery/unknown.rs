//! Replies that do not come: nobody knows, so nobody says `failed`, and nobody sends it again.

use countersign::bounded::Currency;
use countersign::operation::State;
use local::provider::Behavior;
use refunds::Order;
use tests::worker::Submitted;
use tests::{App, quiet, run};

/// Submits a refund that the provider will treat like this.
async fn facing(app: &App, behavior: Behavior) -> (Order, Submitted) {
    let order = app.order("acme", Currency::Eur, 5_000).await;
    app.gateway.provider().script(order.payment.as_str(), behavior);
    let refund = app.submitted(&order, 2_000).await;
    (order, refund)
}

/// The operation is unknown, its money stays reserved, and nothing that the machine does by itself changes that.
async fn stays_unknown(app: &App, order: &Order, refund: &Submitted, effects: usize) {
    let operation = app.operation(&refund.operation).await;
    assert_eq!((operation.state, operation.attempts), (State::Unknown, 1));
    assert!(operation.reason.is_some());
    app.insist(&refund.operation).await;
    assert_eq!(app.operation(&refund.operation).await.state, State::Unknown);
    assert_eq!((app.requests(&refund.proposal), app.effects(order)), (1, effects));
    assert_eq!(app.balances(order).await, (3_000, 2_000, 0));
}

async fn is_unknown(behavior: Behavior, effects: usize) {
    let app = quiet().await;
    let (order, refund) = facing(app, behavior).await;
    assert_eq!(app.deliver(&refund.operation).await, State::Unknown);
    stays_unknown(app, &order, &refund, effects).await;
}

#[test]
fn an_error_of_the_providers_is_unknown_though_nothing_was_refunded() {
    run(is_unknown(Behavior::ErrorBefore, 0));
}

#[test]
fn an_error_of_the_providers_is_unknown_though_it_was_refunded() {
    run(is_unknown(Behavior::ErrorAfter, 1));
}

#[test]
fn a_provider_that_says_the_key_is_in_use_leaves_it_unknown() {
    run(is_unknown(Behavior::InFlight, 0));
}

#[test]
fn a_provider_that_is_not_available_leaves_it_unknown() {
    run(is_unknown(Behavior::Unavailable, 0));
}

#[test]
fn a_connection_that_breaks_before_the_refund_is_unknown() {
    run(is_unknown(Behavior::DropBefore, 0));
}

#[test]
fn a_connection_that_breaks_after_the_refund_is_unknown() {
    run(is_unknown(Behavior::DropAfter, 1));
}

/// Ten seconds long: that is how long the worker waits for the provider.
#[test]
fn an_answer_that_does_not_come_in_time_is_unknown() {
    run(async {
        let app = quiet().await;
        let (before, after) = futures::join!(facing(app, Behavior::HangBefore), facing(app, Behavior::HangAfter));
        let states = futures::join!(app.deliver(&before.1.operation), app.deliver(&after.1.operation));
        assert_eq!(states, (State::Unknown, State::Unknown));
        stays_unknown(app, &before.0, &before.1, 0).await;
        stays_unknown(app, &after.0, &after.1, 1).await;
    });
}

#[test]
fn an_agent_is_told_not_to_ask_again_for_what_is_unknown() {
    run(async {
        let app = quiet().await;
        let (order, refund) = facing(app, Behavior::ErrorAfter).await;
        app.deliver(&refund.operation).await;
        let status = app.until(&refund.operation, "unknown").await;
        assert!(status["next_step"].as_str().unwrap().contains("do not prepare or submit it again"), "{status}");
        // And should it: what is reserved cannot be asked for again.
        let more = app.direct("acme-agent").call("prepare_refund", tests::app::prepare(&order, 3_001)).await;
        assert_eq!(tests::app::code(&more), "exceeds_refundable", "{more}");
    });
}
