//! What the provider simulator shows of refunds, and how it can be made to lie.

use std::time::Duration;

use http::StatusCode;
use local::provider::{Behavior, LookupBehavior, Provider, RefundStatus};
use serde_json::{Value, json};

use crate::provider::{PAYMENT, create, get, send, start};

/// A lookup of the payment's refunds, or the page after one of them.
async fn look_up(base: &str, after: Option<&str>) -> (StatusCode, Value) {
    let after = after.map(|id| format!("&starting_after={id}")).unwrap_or_default();
    send(get(base, &format!("/v1/refunds?payment_intent={PAYMENT}&limit=2{after}"))).await
}

/// A provider with one refund of 25.00, which is looked up like this, once.
async fn with_one(behavior: LookupBehavior) -> (Provider, String, Value) {
    let (provider, base) = start().await;
    let (_, refund) = send(create(&base, "2500", "k1")).await;
    provider.lookup_script(PAYMENT, behavior);
    (provider, base, refund)
}

#[tokio::test]
async fn a_lookup_that_fails_says_nothing_and_the_next_one_tells_the_truth() {
    for (behavior, expected) in [
        (LookupBehavior::Error, StatusCode::INTERNAL_SERVER_ERROR),
        (LookupBehavior::Unauthorized, StatusCode::UNAUTHORIZED),
        (LookupBehavior::NotFound, StatusCode::NOT_FOUND),
        (LookupBehavior::TooManyRequests, StatusCode::TOO_MANY_REQUESTS),
    ] {
        let (_provider, base, refund) = with_one(behavior).await;
        assert_eq!(look_up(&base, None).await.0, expected);
        assert_eq!(look_up(&base, None).await.1["data"], json!([refund]));
    }
    for behavior in [LookupBehavior::Hang, LookupBehavior::Drop] {
        let (_provider, base, refund) = with_one(behavior).await;
        let lost = get(&base, &format!("/v1/refunds?payment_intent={PAYMENT}"));
        assert!(lost.timeout(Duration::from_millis(500)).send().await.is_err(), "{behavior:?}");
        assert_eq!(look_up(&base, None).await.1["data"], json!([refund]));
    }
}

#[tokio::test]
async fn a_lookup_that_lags_does_not_show_what_is_new() {
    let (provider, base, refund) = with_one(LookupBehavior::Hide).await;
    assert_eq!(look_up(&base, None).await.1["data"], json!([]));
    provider.lookup_always(PAYMENT, LookupBehavior::Lag(Duration::from_secs(3_600)));
    assert_eq!(look_up(&base, None).await.1["data"], json!([]));
    provider.lookup_always(PAYMENT, LookupBehavior::Lag(Duration::ZERO));
    assert_eq!(look_up(&base, None).await.1["data"], json!([refund]));
    assert_eq!(provider.effects(PAYMENT).len(), 1);
}

#[tokio::test]
async fn a_lookup_can_lie_about_each_thing_that_a_client_should_compare() {
    for (behavior, member, value) in [
        (LookupBehavior::OtherAmount, "amount", json!(2501)),
        (LookupBehavior::OtherCurrency, "currency", json!("xts")),
        (LookupBehavior::OtherPayment, "payment_intent", json!("pi_another")),
    ] {
        let (provider, base, mut refund) = with_one(behavior).await;
        refund[member] = value;
        assert_eq!(look_up(&base, None).await.1["data"], json!([refund]), "{behavior:?}");
        assert_eq!(
            (provider.effects(PAYMENT)[0].amount, provider.effects(PAYMENT)[0].currency.as_str()),
            (2500, "usd")
        );
    }
    let (provider, base, refund) = with_one(LookupBehavior::Twice).await;
    let (_, list) = look_up(&base, None).await;
    assert_eq!((&list["data"][0], &list["data"][1]["metadata"]), (&refund, &refund["metadata"]));
    assert_ne!(list["data"][1]["id"], refund["id"]);
    assert_eq!(provider.effects(PAYMENT).len(), 1);
}

#[tokio::test]
async fn pages_can_go_on_for_ever_or_round_in_a_circle() {
    let (_provider, base, refund) = with_one(LookupBehavior::Endless).await;
    let mut seen = vec![refund["id"].clone()];
    let mut after = None;
    for _ in 0..5 {
        let (_, page) = look_up(&base, after.as_deref()).await;
        assert_eq!(page["has_more"], true);
        let id = page["data"][0]["id"].clone();
        assert!(!seen.contains(&id), "{id} comes twice");
        after = id.as_str().map(ToOwned::to_owned);
        seen.push(id);
    }
    let (_provider, base, refund) = with_one(LookupBehavior::Loop).await;
    for after in [None, refund["id"].as_str()] {
        let (_, page) = look_up(&base, after).await;
        assert_eq!((&page["has_more"], &page["data"]), (&json!(true), &json!([refund])));
    }
    // The script was for one lookup.
    assert_eq!(look_up(&base, None).await.1["has_more"], false);
}

#[tokio::test]
async fn a_refund_can_fail_while_it_is_pending_or_after_it_has_succeeded() {
    for (behavior, first) in
        [(Behavior::PendingThenFailed { lookups: 1 }, "pending"), (Behavior::ComeBack { lookups: 1 }, "succeeded")]
    {
        let (provider, base) = start().await;
        provider.script(PAYMENT, behavior);
        assert_eq!(send(create(&base, "2500", "k1")).await.1["status"], first);
        assert_eq!(look_up(&base, None).await.1["data"][0]["status"], first);
        let failed = &look_up(&base, None).await.1["data"][0];
        assert_eq!(
            (&failed["status"], &failed["failure_reason"]),
            (&json!("failed"), &json!("expired_or_canceled_card"))
        );
        // The first answer stays what it was, and the money is there to be refunded again.
        assert_eq!(send(create(&base, "2500", "k1")).await.1["status"], first);
        assert_eq!(send(create(&base, "10000", "k2")).await.0, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_refund_comes_back_when_a_test_says_so() {
    let (provider, base) = start().await;
    send(create(&base, "2500", "k1")).await;
    provider.come_back(PAYMENT).unwrap();
    assert_eq!(provider.effects(PAYMENT)[0].status, RefundStatus::Failed);
    provider.come_back(PAYMENT).unwrap();
    assert_eq!(provider.events().len(), 3);
}
