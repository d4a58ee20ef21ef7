//! The simulator's events, as the adapter reads them.

use countersign::clock::Timestamp;
use local::provider::{Behavior, Endpoint, Payment, Provider, RefundStatus, WebhookBehavior};
use stripe::webhook::{Event, Refused, Secrets, verify};
use tests::run;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::adapter::{Wish, at};

const SECRET: &str = "whsec_0123456789abcdef";

/// The simulator, its address, and what an endpoint of it receives.
async fn start() -> (Provider, String, UnboundedReceiver<Result<Event, Refused>>) {
    let provider = Provider::memory();
    provider.register(Payment {
        id: "pi_1".to_owned(),
        account: "acct_acme".to_owned(),
        currency: "eur".to_owned(),
        captured: 10_000,
    });
    let (sender, receiver) = unbounded_channel();
    let listen = move |headers: axum::http::HeaderMap, body: axum::body::Bytes| async move {
        let header = headers["stripe-signature"].to_str().unwrap();
        sender.send(verify(&Secrets::parse(SECRET).unwrap(), header, &body, Timestamp::now())).unwrap();
    };
    let router = provider.router().route("/hook", axum::routing::post(listen));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    provider.register_webhook(Endpoint { url: format!("{url}/hook"), secret: SECRET.to_owned() }).unwrap();
    (provider, url, receiver)
}

#[test]
fn an_event_leads_back_to_the_intent_that_brought_it_about() {
    run(async {
        let (provider, url, mut events) = start().await;
        let stripe = at(&url);
        provider.script("pi_1", Behavior::Pending { lookups: u32::MAX });
        let wish = Wish::new(&stripe, "acct_acme", "pi_1", 100);
        wish.send(&stripe, 1).await;
        let created = events.recv().await.unwrap().unwrap();
        assert_eq!((created.kind.as_str(), created.idempotency_key.as_ref()), ("refund.created", Some(&wish.intent)));
        assert_eq!(created.account.as_ref().map(|account| account.as_str()), Some("acct_acme"));

        provider.settle("pi_1", RefundStatus::Succeeded).unwrap();
        let settled = events.recv().await.unwrap().unwrap();
        assert_eq!((settled.kind.as_str(), settled.idempotency_key), ("refund.updated", None));
        let made = &provider.effects("pi_1")[0];
        for hint in [created.refund.unwrap(), settled.refund.unwrap()] {
            assert_eq!((hint.tenant.as_str(), &hint.intent, hint.payment.as_str()), ("acme", &wish.intent, "pi_1"));
            assert_eq!(hint.reference, made.id);
        }
    });
}

#[test]
fn an_event_that_somebody_else_signed_is_refused() {
    run(async {
        let (provider, url, mut events) = start().await;
        let stripe = at(&url);
        provider.webhook_script(WebhookBehavior::Forged);
        Wish::new(&stripe, "acct_acme", "pi_1", 100).send(&stripe, 1).await;
        assert_eq!(events.recv().await.unwrap(), Err(Refused::Signature));
    });
}
