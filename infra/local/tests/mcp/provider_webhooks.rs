//! The events of the provider simulator, as an endpoint meets them.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, body::Bytes, extract::State, routing::post};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, StatusCode};
use local::provider::{Behavior, Delivery, Endpoint, Provider, RefundStatus, WebhookBehavior};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::provider::{PAYMENT, create, get, send, start};

const SECRET: &str = "whsec_0123456789abcdef";

/// What an endpoint was told: the event, and whether its signature is the secret's.
type Told = Arc<Mutex<Vec<(Value, bool)>>>;

/// An endpoint's memory, and how many tellings it still refuses.
#[derive(Clone)]
struct Listener {
    told: Told,
    refusals: Arc<Mutex<u32>>,
}

async fn listen(State(listener): State<Listener>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let signature = headers["stripe-signature"].to_str().unwrap();
    let event = serde_json::from_slice(&body).unwrap();
    listener.told.lock().unwrap().push((event, is_signed(signature, &body)));
    let mut refusals = listener.refusals.lock().unwrap();
    if *refusals == 0 {
        return StatusCode::OK;
    }
    *refusals -= 1;
    StatusCode::SERVICE_UNAVAILABLE
}

fn is_signed(header: &str, body: &[u8]) -> bool {
    let (time, signature) = header.split_once(",v1=").unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(time.strip_prefix("t=").unwrap().as_bytes());
    mac.update(b".");
    mac.update(body);
    mac.verify_slice(&HEXLOWER.decode(signature.as_bytes()).unwrap()).is_ok()
}

/// A provider that tells of its events to an endpoint which refuses the first tellings.
async fn telling(refusals: u32) -> (Provider, String, Told) {
    let (provider, base) = start().await;
    let listener = Listener { told: Told::default(), refusals: Arc::new(Mutex::new(refusals)) };
    let told = Arc::clone(&listener.told);
    let url = crate::serve(Router::new().route("/hook", post(listen)).with_state(listener)).await;
    provider.register_webhook(Endpoint { url: format!("{url}/hook"), secret: SECRET.to_owned() }).unwrap();
    (provider, base, told)
}

/// The deliveries, once there are so many.
async fn deliveries(provider: &Provider, count: usize) -> Vec<Delivery> {
    let all = async {
        while provider.deliveries().len() < count {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), all).await.unwrap();
    let deliveries = provider.deliveries();
    assert_eq!(deliveries.len(), count);
    deliveries
}

fn kinds(told: &Told) -> Vec<String> {
    told.lock().unwrap().iter().map(|(event, _)| event["type"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn there_are_events_and_no_webhooks_until_an_endpoint_is_registered() {
    let (_provider, base) = start().await;
    send(create(&base, "2500", "k1")).await;
    let (_, page) = send(get(&base, "/_countersign/events")).await;
    assert_eq!((&page["events"][0]["type"], &page["deliveries"]), (&json!("refund.created"), &json!([])));
}

#[tokio::test]
async fn an_endpoint_is_told_of_each_change_and_the_telling_is_signed() {
    let (provider, base, told) = telling(0).await;
    provider.script(PAYMENT, Behavior::Pending { lookups: u32::MAX });
    let (_, refund) = send(create(&base, "2500", "k1")).await;
    deliveries(&provider, 1).await;
    provider.settle(PAYMENT, RefundStatus::Pending).unwrap();
    provider.settle(PAYMENT, RefundStatus::Succeeded).unwrap();
    deliveries(&provider, 2).await;
    provider.come_back(PAYMENT).unwrap();
    let all = deliveries(&provider, 4).await;
    assert!(all.iter().all(|delivery| (delivery.attempt, delivery.status) == (1, Some(200))), "{all:?}");

    let told = told.lock().unwrap();
    assert!(told.iter().all(|(_, signed)| *signed));
    let (created, settled) = (&told[0].0, &told[1].0);
    assert_eq!((&created["type"], &created["data"]["object"]), (&json!("refund.created"), &refund));
    assert_eq!((&created["account"], &created["livemode"]), (&json!("acct_acme"), &json!(false)));
    assert_eq!(created["request"]["idempotency_key"], "k1");
    assert_eq!(
        (&settled["type"], &settled["data"]["object"]["status"]),
        (&json!("refund.updated"), &json!("succeeded"))
    );
    assert_eq!(settled["data"]["previous_attributes"]["status"], "pending");
    assert_eq!(settled["request"]["idempotency_key"], Value::Null);
    let mut last = [told[2].0["type"].as_str().unwrap(), told[3].0["type"].as_str().unwrap()];
    last.sort_unstable();
    assert_eq!(last, ["refund.failed", "refund.updated"]);
}

#[tokio::test]
async fn what_changes_nothing_is_not_told_again() {
    let (provider, base, told) = telling(0).await;
    send(create(&base, "2500", "k1")).await;
    send(create(&base, "2500", "k1")).await;
    provider.settle(PAYMENT, RefundStatus::Failed).unwrap();
    send(create(&base, "20000", "k2")).await;
    deliveries(&provider, 1).await;
    assert_eq!((kinds(&told), provider.events().len()), (vec!["refund.created".to_owned()], 1));
}

#[tokio::test]
async fn an_endpoint_that_does_not_take_an_event_is_told_again_a_few_times() {
    let (provider, base, told) = telling(2).await;
    send(create(&base, "2500", "k1")).await;
    let attempts: Vec<_> = deliveries(&provider, 3).await.iter().map(|each| (each.attempt, each.status)).collect();
    assert_eq!(attempts, [(1, Some(503)), (2, Some(503)), (3, Some(200))]);
    let ids: Vec<_> = told.lock().unwrap().iter().map(|(event, _)| event["id"].clone()).collect();
    assert_eq!((&ids[0], &ids[1]), (&ids[1], &ids[2]));

    let (provider, base, _told) = telling(u32::MAX).await;
    send(create(&base, "2500", "k1")).await;
    assert_eq!(deliveries(&provider, 5).await[4].attempt, 5);
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_gives_no_status() {
    let (provider, base) = start().await;
    provider.register_webhook(Endpoint { url: "http://127.0.0.1:1".to_owned(), secret: SECRET.to_owned() }).unwrap();
    send(create(&base, "2500", "k1")).await;
    assert!(deliveries(&provider, 5).await.iter().all(|delivery| delivery.status.is_none()));
}

#[tokio::test]
async fn events_come_late_twice_and_in_another_order_when_a_test_says_so() {
    let (provider, base, told) = telling(0).await;
    provider.webhook_script(WebhookBehavior::AfterNext);
    provider.webhook_script(WebhookBehavior::Twice);
    send(create(&base, "2500", "k1")).await;
    provider.come_back(PAYMENT).unwrap();
    deliveries(&provider, 4).await;
    // The second event twice, then the first; the third goes its own way.
    let order: Vec<_> = kinds(&told).into_iter().filter(|kind| kind != "refund.failed").collect();
    assert_eq!(order, ["refund.updated", "refund.updated", "refund.created"]);

    let begun = std::time::Instant::now();
    provider.webhook_script(WebhookBehavior::Late(Duration::from_millis(200)));
    send(create(&base, "100", "k2")).await;
    deliveries(&provider, 5).await;
    assert!(begun.elapsed() >= Duration::from_millis(200));

    let first = provider.events()[0].clone();
    provider.tell_again(first["id"].as_str().unwrap());
    deliveries(&provider, 6).await;
    assert_eq!(told.lock().unwrap()[5].0, first);
}

#[tokio::test]
async fn events_are_forged_or_of_another_account_or_lost_when_a_test_says_so() {
    let (provider, base, told) = telling(0).await;
    provider.webhook_script(WebhookBehavior::Forged);
    provider.webhook_script(WebhookBehavior::FromAccount("acct_globex".to_owned()));
    provider.webhook_script(WebhookBehavior::Never);
    for (key, told) in [("k1", 1), ("k2", 2), ("k3", 2), ("k4", 3)] {
        send(create(&base, "100", key)).await;
        deliveries(&provider, told).await;
    }
    let told = told.lock().unwrap();
    let account = |index: usize| told[index].0["account"].as_str().unwrap();
    assert_eq!((told[0].1, account(0)), (false, "acct_acme"));
    assert_eq!((told[1].1, account(1)), (true, "acct_globex"));
    assert_eq!((told[2].1, account(2)), (true, "acct_acme"));
    assert_eq!(told[2].0["request"]["idempotency_key"], "k4");
}
