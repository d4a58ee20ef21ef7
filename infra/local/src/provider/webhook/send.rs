//! The courier: signs an event, posts it, and tries again while the endpoint does not take it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use countersign::clock::Timestamp;
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{Delivery, Endpoint};

/// How often an event is told to an endpoint that does not take it. Stripe goes on for three days.
const ATTEMPTS: u32 = 5;
/// The wait before the second attempt; doubled each time.
const AGAIN: Duration = Duration::from_millis(50);
/// How long an endpoint may take to answer.
const ANSWER: Duration = Duration::from_secs(10);
/// With what a forger signs.
const FORGED_SECRET: &str = "whsec_of_somebody_else_entirely";

/// An event on its way.
#[derive(Debug, Clone)]
pub(super) struct Parcel {
    pub(super) event: Value,
    pub(super) wait: Duration,
    pub(super) forged: bool,
}

impl Parcel {
    pub(super) fn of(event: Value) -> Self {
        Self { event, wait: Duration::ZERO, forged: false }
    }

    pub(super) fn of_account(mut self, account: &str) -> Self {
        if let Some(event) = self.event.as_object_mut() {
            event.insert("account".to_owned(), Value::from(account));
        }
        self
    }

    fn text(&self, member: &str) -> String {
        self.event.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

/// Who posts events to one endpoint.
#[derive(Debug, Clone)]
pub(super) struct Courier {
    client: reqwest::Client,
    endpoint: Endpoint,
    log: Arc<Mutex<Vec<Delivery>>>,
}

impl Courier {
    pub(super) fn new(endpoint: Endpoint, log: Arc<Mutex<Vec<Delivery>>>) -> reqwest::Result<Self> {
        let client = reqwest::Client::builder()
            .timeout(ANSWER)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()?;
        Ok(Self { client, endpoint, log })
    }

    /// Posts until nobody has anything to tell any more. Parcels that come together go one after the other, others do not
    /// wait for each other.
    pub(super) async fn run(self, mut parcels: UnboundedReceiver<Vec<Parcel>>) {
        while let Some(parcels) = parcels.recv().await {
            let courier = self.clone();
            tokio::spawn(async move {
                for parcel in parcels {
                    courier.tell(&parcel).await;
                }
            });
        }
    }

    async fn tell(&self, parcel: &Parcel) {
        tokio::time::sleep(parcel.wait).await;
        let mut wait = AGAIN;
        for attempt in 1..=ATTEMPTS {
            let status = self.post(parcel).await;
            let delivery = Delivery { event: parcel.text("id"), kind: parcel.text("type"), attempt, status };
            self.log.lock().unwrap_or_else(PoisonError::into_inner).push(delivery);
            if status.is_some_and(|status| (200..300).contains(&status)) {
                return;
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
    }

    /// The endpoint's answer to one attempt. Each is signed anew, as Stripe does.
    async fn post(&self, parcel: &Parcel) -> Option<u16> {
        let secret = if parcel.forged { FORGED_SECRET } else { &self.endpoint.secret };
        let body = parcel.event.to_string();
        let request = self
            .client
            .post(&self.endpoint.url)
            .header("content-type", "application/json")
            .header("stripe-signature", signature(secret, Timestamp::now().seconds(), &body))
            .body(body);
        request.send().await.ok().map(|response| response.status().as_u16())
    }
}

/// The `Stripe-Signature` header: <https://docs.stripe.com/webhooks#verify-manually>.
fn signature(secret: &str, time: i64, body: &str) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    mac.update(format!("{time}.{body}").as_bytes());
    format!("t={time},v1={}", HEXLOWER.encode(&mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_what_the_official_library_makes() {
        // npm `stripe` 23.1.0: `webhooks.generateTestHeaderString({ payload, secret, timestamp })`.
        let header = signature("whsec_golden0123456789", 1_796_083_260, r#"{"id":"evt_1","object":"event"}"#);
        assert_eq!(header, "t=1796083260,v1=b3e25e95834b2a78295d5cd9e2693f09a00dc28d0a4f92fcfb1f412af33c7da1");
    }
}
