//! The worker's own binary against the provider: from the lost reply to the end, with one effect.

use countersign::bounded::Currency;
use countersign::operation::State;
use local::provider::{Behavior, WebhookBehavior};
use refunds::Order;
use serde_json::json;
use tests::accounts::past;
use tests::worker::Submitted;
use tests::{App, quiet, run};

async fn lost(app: &App, behavior: Behavior) -> (Order, Submitted) {
    let order = app.order("acme", Currency::Eur, 5_000).await;
    app.gateway.provider().script(order.payment.as_str(), behavior);
    let refund = app.submitted(&order, 2_000).await;
    assert_eq!(app.deliver(&refund.operation).await, State::Unknown);
    (order, refund)
}

#[test]
fn a_reply_that_was_lost_after_the_refund_was_made_is_found_by_the_sweep() {
    run(async {
        let app = quiet().await;
        for behavior in [Behavior::DropAfter, Behavior::ErrorAfter] {
            let (order, refund) = lost(app, behavior).await;
            app.edit(&refund.operation, |step| step.set("due_at", past())).await;
            app.gateway.sweep().await;
            let operation = app.operation(&refund.operation).await;
            assert_eq!((operation.state, operation.attempts), (State::Succeeded, 1), "{behavior:?}");
            assert_eq!((app.effects(&order), app.requests(&refund.proposal)), (1, 1));
            assert_eq!(app.balances(&order).await, (3_000, 0, 2_000));
        }
    });
}

#[test]
fn one_that_was_never_made_is_looked_for_twice_and_sent_again() {
    run(async {
        let app = quiet().await;
        let (order, refund) = lost(app, Behavior::DropBefore).await;
        // As if the lease had ended and the first lookup been made long ago.
        app.edit(&refund.operation, |step| step.set("lease_until", past()).set("due_at", past())).await;
        app.gateway.sweep().await;
        assert_eq!(app.operation(&refund.operation).await.state, State::Unknown);
        app.edit(&refund.operation, |step| step.set("absent_since", past()).set("due_at", past())).await;
        app.gateway.sweep().await;
        app.deliver(&refund.operation).await;
        let operation = app.settled(&refund.operation).await;
        assert_eq!((operation.state, operation.attempts, operation.resends), (State::Succeeded, 2, 1));
        assert_eq!((app.effects(&order), app.requests(&refund.proposal)), (1, 2));
        assert_eq!(app.balances(&order).await, (3_000, 0, 2_000));
    });
}

#[test]
fn a_whole_order_is_reconciled_on_demand_whatever_its_refunds_states() {
    run(async {
        let app = quiet().await;
        let (order, refund) = lost(app, Behavior::DropAfter).await;
        let event = json!({ "tenant": "acme", "order_id": order.id });
        let answer = app.raw("reconcile_refunds", event.to_string(), None).await;
        assert_eq!(&answer[..], b"null");
        assert_eq!(app.operation(&refund.operation).await.state, State::Succeeded);
        for bad in [json!({ "tenant": "acme" }), json!({ "tenant": "a#b", "order_id": order.id })] {
            let refused = app.gateway.lambda().invoke("reconcile_refunds", bad.to_string().into(), None).await;
            assert!(matches!(refused, local::lambda::Invoked::FunctionError { .. }), "{refused:?}");
        }
    });
}

#[test]
fn no_lookup_is_begun_that_could_not_be_finished_and_the_call_says_so() {
    run(async {
        let app = App::hurried("reconcile_refunds", std::time::Duration::from_secs(30)).await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let refund = app.submitted(&order, 2_000).await;
        // Nobody else looks.
        app.gateway.provider().webhook_script(WebhookBehavior::Never);
        app.deliver(&refund.operation).await;
        let event = json!({ "tenant": "acme", "order_id": order.id }).to_string();
        let refused = app.gateway.lambda().invoke("reconcile_refunds", event.into(), None).await;
        assert!(matches!(&refused, local::lambda::Invoked::FunctionError { .. }), "{refused:?}");
        let seen = app.gateway.taps().unwrap().provider.seen();
        assert!(seen.iter().all(|seen| seen.operation != "GET /v1/refunds"), "{seen:?}");
        app.stop().await;
    });
}
