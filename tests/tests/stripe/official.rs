//! Stripe's own library signs, and is shown what the simulator signs.

use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::http::HeaderMap;
use countersign::clock::Timestamp;
use local::provider::{Endpoint, Payment, Provider};
use reqwest::Client;
use serde_json::{Value, json};
use stripe::webhook::{Refused, Secrets, verify};
use tests::run;
use tokio::net::TcpListener;

use crate::adapter::{Wish, at};
use crate::peer;

const SECRET: &str = "whsec_of_the_official_library";

fn event() -> String {
    json!({
        "id": "evt_1", "object": "event", "type": "refund.updated", "livemode": false, "account": "acct_acme",
        "data": { "object": {
            "id": "re_1", "amount": 100, "currency": "eur", "payment_intent": "pi_1", "status": "succeeded",
            "metadata": { "tenant": "acme", "intent_id": "prop_aaaaaaaaaaaaaaaaaaaaaaaaaa", "note": "naïve — ✓ \u{1F4B6}" },
        } },
    })
    .to_string()
}

async fn ask(url: &str, path: &str, body: Value) -> Value {
    Client::new().post(format!("{url}{path}")).json(&body).send().await.unwrap().json().await.unwrap()
}

/// The header that the official library makes.
async fn sign(url: &str, secret: &str, payload: &str, timestamp: i64) -> String {
    let signed = ask(url, "/official/sign", json!({ "secret": secret, "payload": payload, "timestamp": timestamp }));
    signed.await["header"].as_str().unwrap().to_owned()
}

#[test]
fn exactly_what_the_official_library_signed_is_believed() {
    let Some(url) = peer::url() else { return };
    run(async {
        let (now, body) = (Timestamp::now(), event());
        let header = sign(&url, SECRET, &body, now.seconds()).await;
        let secrets = Secrets::parse(SECRET).unwrap();
        let refund = verify(&secrets, &header, body.as_bytes(), now).unwrap().refund.unwrap();
        assert_eq!((refund.tenant.as_str(), refund.reference.as_str()), ("acme", "re_1"));

        let altered = body.replace("100", "101");
        assert_eq!(verify(&secrets, &header, altered.as_bytes(), now), Err(Refused::Signature));
        let other = sign(&url, "whsec_somebody_elses_secret", &body, now.seconds()).await;
        assert_eq!(verify(&secrets, &other, body.as_bytes(), now), Err(Refused::Signature));
        for (age, expected) in [(300, true), (301, false), (-301, false)] {
            let header = sign(&url, SECRET, &body, now.seconds() - age).await;
            let verified = verify(&secrets, &header, body.as_bytes(), now);
            assert_eq!((verified.is_ok(), verified == Err(Refused::Time)), (expected, !expected), "{age}");
        }
    });
}

#[test]
fn what_the_simulator_signs_is_believed_by_the_official_library() {
    let Some(url) = peer::url() else { return };
    run(async {
        let provider = Provider::memory();
        let (id, account, currency) = ("pi_1".to_owned(), "acct_acme".to_owned(), "eur".to_owned());
        provider.register(Payment { id, account, currency, captured: 10_000 });
        let told = Arc::new(Mutex::new(None));
        let hears = Arc::clone(&told);
        let listen = move |headers: HeaderMap, body: Bytes| async move {
            let header = headers["stripe-signature"].to_str().unwrap().to_owned();
            *hears.lock().unwrap() = Some((header, String::from_utf8(body.to_vec()).unwrap()));
        };
        let router = provider.router().route("/hook", axum::routing::post(listen));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        provider.register_webhook(Endpoint { url: format!("{base}/hook"), secret: SECRET.to_owned() }).unwrap();
        Wish::new(&at(&base), "acct_acme", "pi_1", 100).send(&at(&base), 1).await;
        while provider.deliveries().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        let (header, payload) = told.lock().unwrap().take().unwrap();
        let good = json!({ "header": header, "payload": payload, "secret": SECRET });
        assert_eq!(ask(&url, "/official/verify", good).await, json!({ "type": "refund.created" }));
        let bad = json!({ "header": header, "payload": payload, "secret": "whsec_somebody_elses_secret" });
        assert_eq!(ask(&url, "/official/verify", bad).await, json!({ "error": "StripeSignatureVerificationError" }));
    });
}
