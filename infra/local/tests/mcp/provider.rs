//! The provider simulator over HTTP, as a Stripe client would meet it.

use std::time::Duration;

use http::StatusCode;
use local::provider::{Behavior, Payment, Provider, RefundStatus};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

pub(crate) const PAYMENT: &str = "pi_order1";

/// A provider with one payment of 100.00, and its base URL.
pub(crate) async fn start() -> (Provider, String) {
    serve(Provider::memory()).await
}

async fn serve(provider: Provider) -> (Provider, String) {
    provider.register(Payment {
        id: PAYMENT.to_owned(),
        account: "acct_acme".to_owned(),
        currency: "usd".to_owned(),
        captured: 10_000,
    });
    let base = crate::serve(provider.router()).await;
    (provider, base)
}

pub(crate) fn get(base: &str, path: &str) -> RequestBuilder {
    Client::new().get(format!("{base}{path}")).bearer_auth("sk_test_1")
}

/// A request to refund so much of the payment, under a key.
pub(crate) fn create(base: &str, amount: &str, key: &str) -> RequestBuilder {
    let form = [("payment_intent", PAYMENT), ("amount", amount), ("metadata[operation_id]", "op_1")];
    Client::new().post(format!("{base}/v1/refunds")).bearer_auth("sk_test_1").header("idempotency-key", key).form(&form)
}

async fn body(response: Response) -> Value {
    response.json().await.unwrap()
}

pub(crate) async fn send(request: RequestBuilder) -> (StatusCode, Value) {
    let response = request.send().await.unwrap();
    (response.status(), body(response).await)
}

async fn wait_for_in_flight(provider: &Provider, requests: usize) {
    while provider.in_flight() != requests {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_refund_is_made_listed_and_found() {
    let (provider, base) = start().await;
    let (status, refund) = send(create(&base, "2500", "k1")).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!((&refund["object"], &refund["status"]), (&json!("refund"), &json!("succeeded")));
    assert_eq!((&refund["amount"], &refund["currency"]), (&json!(2500), &json!("usd")));
    assert_eq!(refund["payment_intent"], PAYMENT);
    assert_eq!(refund["metadata"], json!({ "operation_id": "op_1" }));
    let id = refund["id"].as_str().unwrap();
    assert!(id.starts_with("re_"));

    assert_eq!(send(get(&base, &format!("/v1/refunds/{id}"))).await, (StatusCode::OK, refund.clone()));
    let (_, list) = send(get(&base, &format!("/v1/refunds?payment_intent={PAYMENT}&limit=100"))).await;
    assert_eq!(list, json!({ "object": "list", "data": [refund], "has_more": false, "url": "/v1/refunds" }));
    let (_, overview) = send(Client::new().get(format!("{base}/_countersign/refunds"))).await;
    assert_eq!(overview["refunds"][0]["id"], id);
    assert_eq!(provider.effects(PAYMENT).len(), 1);
    assert_eq!(provider.requests()[0].idempotency_key.as_deref(), Some("k1"));
}

#[tokio::test]
async fn a_repeated_key_gets_the_first_answer_and_makes_no_second_refund() {
    let (provider, base) = start().await;
    let first = body(create(&base, "2500", "k1").send().await.unwrap()).await;
    let again = create(&base, "2500", "k1").send().await.unwrap();
    assert_eq!(again.headers()["idempotent-replayed"], "true");
    assert_eq!(body(again).await, first);
    assert_eq!(provider.effects(PAYMENT).len(), 1);
}

#[tokio::test]
async fn a_used_key_with_other_parameters_is_refused() {
    let (provider, base) = start().await;
    send(create(&base, "2500", "k1")).await;
    let (status, error) = send(create(&base, "2501", "k1")).await;
    assert_eq!((status, &error["error"]["type"]), (StatusCode::BAD_REQUEST, &json!("idempotency_error")));
    assert_eq!(provider.effects(PAYMENT).len(), 1);
}

#[tokio::test]
async fn a_stored_500_is_replayed_whether_or_not_the_refund_was_made() {
    for (behavior, made) in [(Behavior::ErrorBefore, 0), (Behavior::ErrorAfter, 1)] {
        let (provider, base) = start().await;
        provider.script(PAYMENT, behavior);
        let first = send(create(&base, "2500", "k1")).await;
        assert_eq!(first.0, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(send(create(&base, "2500", "k1")).await, first);
        assert_eq!(provider.effects(PAYMENT).len(), made);
    }
}

#[tokio::test]
async fn a_decline_is_definite_and_stored() {
    let (provider, base) = start().await;
    provider.script(PAYMENT, Behavior::Decline);
    let (status, error) = send(create(&base, "2500", "k1")).await;
    assert_eq!((status, &error["error"]["type"]), (StatusCode::PAYMENT_REQUIRED, &json!("card_error")));
    assert_eq!(send(create(&base, "2500", "k1")).await.0, StatusCode::PAYMENT_REQUIRED);
    assert!(provider.effects(PAYMENT).is_empty());
}

#[tokio::test]
async fn nothing_is_stored_for_401_409_429_503_or_failed_validation() {
    let (provider, base) = start().await;
    for (behavior, status) in [
        (Behavior::Unauthorized, StatusCode::UNAUTHORIZED),
        (Behavior::TooManyRequests, StatusCode::TOO_MANY_REQUESTS),
        (Behavior::InFlight, StatusCode::CONFLICT),
        (Behavior::Unavailable, StatusCode::SERVICE_UNAVAILABLE),
    ] {
        provider.script(PAYMENT, behavior);
        assert_eq!(send(create(&base, "2500", "k1")).await.0, status);
    }
    for amount in ["0", "-5", "1.5", "many"] {
        let (status, error) = send(create(&base, amount, "k1")).await;
        assert_eq!((status, &error["error"]["param"]), (StatusCode::BAD_REQUEST, &json!("amount")));
    }
    assert_eq!(send(create(&base, "2500", "k1")).await.0, StatusCode::OK);
    assert_eq!(provider.effects(PAYMENT).len(), 1);
}

#[tokio::test]
async fn a_key_in_flight_conflicts_until_its_client_hangs_up() {
    let (provider, base) = start().await;
    provider.script(PAYMENT, Behavior::HangBefore);
    let hanging = tokio::spawn(create(&base, "2500", "k1").send());
    wait_for_in_flight(&provider, 1).await;
    let (status, error) = send(create(&base, "2500", "k1")).await;
    assert_eq!((status, &error["error"]["type"]), (StatusCode::CONFLICT, &json!("idempotency_error")));
    hanging.abort();
    wait_for_in_flight(&provider, 0).await;
    assert_eq!(send(create(&base, "2500", "k1")).await.0, StatusCode::OK);
    assert_eq!(provider.effects(PAYMENT).len(), 1);
}

#[tokio::test]
async fn a_lost_answer_is_found_again_under_its_key() {
    for behavior in [Behavior::HangAfter, Behavior::DropAfter] {
        let (provider, base) = start().await;
        provider.script(PAYMENT, behavior);
        let lost = create(&base, "2500", "k1").timeout(Duration::from_millis(500)).send().await;
        assert!(lost.is_err());
        assert_eq!(provider.effects(PAYMENT).len(), 1);
        assert_eq!(send(create(&base, "2500", "k1")).await.1["id"], provider.effects(PAYMENT)[0].id);
        assert_eq!(provider.effects(PAYMENT).len(), 1);
    }
}

#[tokio::test]
async fn a_connection_dropped_before_applying_leaves_nothing() {
    let (provider, base) = start().await;
    provider.script(PAYMENT, Behavior::DropBefore);
    let lost = create(&base, "2500", "k1").send().await.unwrap_err();
    assert!(!lost.is_connect() && !lost.is_timeout() && lost.status().is_none(), "{lost:?}");
    assert!(provider.effects(PAYMENT).is_empty());
    assert_eq!(send(create(&base, "2500", "k1")).await.0, StatusCode::OK);
}

#[tokio::test]
async fn more_than_is_left_is_refused_on_the_amount_without_a_code() {
    let (provider, base) = start().await;
    send(create(&base, "9000", "k1")).await;
    let (status, error) = send(create(&base, "1001", "k2")).await;
    assert_eq!((status, &error["error"]["param"]), (StatusCode::BAD_REQUEST, &json!("amount")));
    assert!(error["error"].get("code").is_none());
    send(create(&base, "1000", "k3")).await;
    let (_, error) = send(create(&base, "1", "k4")).await;
    assert_eq!(error["error"]["code"], "charge_already_refunded");
    assert_eq!(provider.effects(PAYMENT).len(), 2);
}

#[tokio::test]
async fn a_pending_refund_settles_after_its_lookups() {
    let (provider, base) = start().await;
    provider.script(PAYMENT, Behavior::Pending { lookups: 1 });
    let (_, refund) = send(create(&base, "2500", "k1")).await;
    assert_eq!(refund["status"], "pending");
    let path = format!("/v1/refunds/{}", refund["id"].as_str().unwrap());
    assert_eq!(send(get(&base, &path)).await.1["status"], "pending");
    assert_eq!(send(get(&base, &path)).await.1["status"], "succeeded");

    provider.script(PAYMENT, Behavior::Pending { lookups: u32::MAX });
    send(create(&base, "7500", "k2")).await;
    provider.settle(PAYMENT, RefundStatus::Failed).unwrap();
    assert_eq!(provider.effects(PAYMENT)[1].status, RefundStatus::Failed);
    assert_eq!(send(create(&base, "7500", "k3")).await.0, StatusCode::OK);
}

#[tokio::test]
async fn pages_come_newest_first_and_each_refund_once() {
    let (provider, base) = start().await;
    for key in ["k1", "k2", "k3"] {
        send(create(&base, "100", key)).await;
    }
    let (_, first) = send(get(&base, &format!("/v1/refunds?payment_intent={PAYMENT}&limit=2"))).await;
    assert_eq!(first["has_more"], true);
    let last = first["data"][1]["id"].as_str().unwrap();
    let next = format!("/v1/refunds?payment_intent={PAYMENT}&limit=2&starting_after={last}");
    let (_, second) = send(get(&base, &next)).await;
    assert_eq!(second["has_more"], false);
    let seen: Vec<_> = first["data"].as_array().unwrap().iter().chain(second["data"].as_array().unwrap()).collect();
    let ids: Vec<_> = seen.iter().map(|refund| refund["id"].as_str().unwrap().to_owned()).collect();
    let made: Vec<_> = provider.effects(PAYMENT).into_iter().rev().map(|refund| refund.id).collect();
    assert_eq!(ids, made);
}

#[tokio::test]
async fn another_account_or_key_sees_no_refund() {
    let (provider, base) = start().await;
    let foreign = create(&base, "2500", "k1").header("stripe-account", "acct_globex");
    assert_eq!(send(foreign).await.1["error"]["code"], "resource_missing");
    let own = create(&base, "2500", "k1").header("stripe-account", "acct_acme");
    let (_, refund) = send(own).await;
    let path = format!("/v1/refunds/{}", refund["id"].as_str().unwrap());
    let (status, _) = send(get(&base, &path).header("stripe-account", "acct_globex")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let live = Client::new().get(format!("{base}{path}")).bearer_auth("sk_live_1");
    assert_eq!(send(live).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(provider.effects(PAYMENT).len(), 1);
}

#[tokio::test]
async fn a_key_is_bound_no_longer_once_it_was_forgotten() {
    let (provider, base) = start().await;
    send(create(&base, "2500", "k1")).await;
    provider.forget_keys();
    send(create(&base, "2500", "k1")).await;
    assert_eq!(provider.effects(PAYMENT).len(), 2);
}

#[tokio::test]
async fn a_provider_opened_again_remembers_refunds_and_keys() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("provider.jsonl");
    let (provider, base) = serve(Provider::open(Some(file.clone())).unwrap()).await;
    let (_, refund) = send(create(&base, "2500", "k1")).await;
    provider.script(PAYMENT, Behavior::ErrorBefore);
    send(create(&base, "100", "k2")).await;
    // What a killed process leaves behind: a line that was never finished.
    let mut torn = std::fs::read(&file).unwrap();
    torn.extend_from_slice(b"{\"refund\":{\"id\":\"re_");
    std::fs::write(&file, torn).unwrap();

    let (again, base) = serve(Provider::open(Some(file.clone())).unwrap()).await;
    assert_eq!(again.effects(PAYMENT), provider.effects(PAYMENT));
    assert_eq!(send(create(&base, "2500", "k1")).await, (StatusCode::OK, refund));
    assert_eq!(send(create(&base, "100", "k2")).await.0, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(send(create(&base, "7501", "k3")).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(send(create(&base, "7500", "k4")).await.0, StatusCode::OK);
    assert_eq!(Provider::open(Some(file)).unwrap().effects(PAYMENT).len(), 2);
}
