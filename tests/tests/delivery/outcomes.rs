//! Outcomes that the provider states, from the stream to what the agent is told.

use countersign::bounded::Currency;
use countersign::consent::Verdict;
use local::provider::{Behavior, RefundStatus};
use tests::{run, shared};

#[test]
fn a_refund_that_the_provider_makes_has_succeeded() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let refund = app.submitted(&order, 2_000).await;
        let status = app.until(&refund.operation, "succeeded").await;
        let made = &app.gateway.provider().effects(order.payment.as_str())[0];
        assert_eq!(status["provider_reference"], made.id);
        assert_eq!((made.amount, made.currency.as_str()), (2_000, "eur"));
        assert_eq!(made.metadata["intent_id"], refund.proposal);
        assert_eq!((app.balances(&order).await, app.effects(&order)), ((3_000, 0, 2_000), 1));
        assert_eq!(app.requests(&refund.proposal), 1);
    });
}

#[test]
fn a_refund_that_the_provider_declines_has_failed_and_its_money_is_refundable_again() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        app.gateway.provider().script(order.payment.as_str(), Behavior::Decline);
        let refund = app.submitted(&order, 2_000).await;
        let status = app.until(&refund.operation, "failed").await;
        assert_eq!(status["reason"], "card_declined");
        assert_eq!((app.balances(&order).await, app.effects(&order)), ((5_000, 0, 0), 0));

        // It is over: what comes next is another refund, and it gets through.
        let again = app.submitted(&order, 5_000).await;
        app.until(&again.operation, "succeeded").await;
        assert_eq!((app.balances(&order).await, app.effects(&order)), ((0, 0, 5_000), 1));
    });
}

#[test]
fn a_request_that_the_provider_calls_malformed_has_failed_and_is_reported_as_our_fault() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        app.gateway.provider().script(order.payment.as_str(), Behavior::Malformed);
        let refund = app.submitted(&order, 2_000).await;
        let status = app.until(&refund.operation, "failed").await;
        assert_eq!(status["reason"], "malformed request, a fault of this service: parameter_unknown");
        assert_eq!((app.balances(&order).await, app.effects(&order)), ((5_000, 0, 0), 0));
        let errors: Vec<_> = app.logs().into_iter().filter(|line| line.contains("of ours malformed")).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        for part in ["\"level\":\"ERROR\"", "\"what\":\"parameter_unknown\"", "\"request_id\":\"req_", "\"attempt\":1"]
        {
            assert!(errors[0].contains(part), "{part}: {}", errors[0]);
        }
    });
}

#[test]
fn a_refund_that_the_provider_has_not_finished_is_settling_and_stays_reserved() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        app.gateway.provider().script(order.payment.as_str(), Behavior::Pending { lookups: u32::MAX });
        let refund = app.submitted(&order, 2_000).await;
        let status = app.until(&refund.operation, "settling").await;
        let made = &app.gateway.provider().effects(order.payment.as_str())[0];
        assert_eq!((status["provider_reference"].as_str(), made.status), (Some(&*made.id), RefundStatus::Pending));
        assert_eq!(app.balances(&order).await, (3_000, 2_000, 0));
        app.insist(&refund.operation).await;
        app.until(&refund.operation, "settling").await;
        assert_eq!((app.balances(&order).await, app.effects(&order)), ((3_000, 2_000, 0), 1));
        assert_eq!(app.requests(&refund.proposal), 1);
    });
}

#[test]
fn an_amount_that_the_provider_cannot_represent_is_never_sent() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Kwd, 5_000).await;
        // Stripe takes three-decimal amounts in steps of ten, and nothing prepares another one.
        let intent = app.prepared_unchecked(&app.caller("acme-agent"), &order, 1_001).await;
        app.decide("acme-approver", intent.id.as_str(), Verdict::Approval).await.unwrap();
        let refund = app.submit(intent.id.to_string()).await;
        let status = app.until(&refund.operation, "cancelled").await;
        assert!(status["reason"].as_str().unwrap().contains("steps of ten"), "{status}");
        assert_eq!((app.balances(&order).await, app.requests(&refund.proposal)), ((5_000, 0, 0), 0));
    });
}
