//! Telling of events: <https://docs.stripe.com/webhooks>. At least once, in any order, and as badly as a test wants it.

mod event;
mod send;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use self::send::{Courier, Parcel};
use super::refund::Refund;

/// Who is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Where it listens.
    pub url: String,
    /// With what the telling is signed, `whsec_…`.
    pub secret: String,
}

/// What becomes of telling one event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WebhookBehavior {
    /// It is told at once.
    #[default]
    Prompt,
    /// It is told so much later.
    Late(Duration),
    /// It is told twice.
    Twice,
    /// It is told after the event that comes after it.
    AfterNext,
    /// It is signed with a secret that is not the endpoint's.
    Forged,
    /// It says that it is of this account.
    FromAccount(String),
    /// It is not told.
    Never,
}

/// One attempt to tell of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Delivery {
    /// The event's id.
    pub event: String,
    /// What the event is about, such as `refund.updated`.
    pub kind: String,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The endpoint's answer; none where there was none.
    pub status: Option<u16>,
}

/// What brought a change about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
    /// A request, with its idempotency key.
    Request(Option<String>),
    /// Nobody's request.
    Time,
}

/// All events, and those who are told.
#[derive(Debug, Default)]
pub(super) struct Webhooks {
    events: Vec<Value>,
    courier: Option<UnboundedSender<Vec<Parcel>>>,
    script: VecDeque<WebhookBehavior>,
    /// What is told after the next event.
    held: Vec<Parcel>,
    log: Arc<Mutex<Vec<Delivery>>>,
}

impl Webhooks {
    pub(super) fn register(&mut self, endpoint: Endpoint) -> reqwest::Result<()> {
        let courier = Courier::new(endpoint, Arc::clone(&self.log))?;
        let (sender, receiver) = unbounded_channel();
        tokio::spawn(courier.run(receiver));
        self.courier = Some(sender);
        Ok(())
    }

    pub(super) fn script(&mut self, behavior: WebhookBehavior) {
        self.script.push_back(behavior);
    }

    pub(super) fn events(&self) -> &[Value] {
        &self.events
    }

    pub(super) fn deliveries(&self) -> Vec<Delivery> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells of a refund that was made or has changed.
    pub(super) fn tell(&mut self, before: Option<&Refund>, after: &Refund, cause: Cause) {
        for event in event::events(before, after, &cause) {
            self.events.push(event.clone());
            if self.courier.is_some() {
                let behavior = self.script.pop_front().unwrap_or_default();
                self.dispatch(event, behavior);
            }
        }
    }

    pub(super) fn tell_again(&mut self, id: &str) {
        let event = self.events.iter().find(|event| event.get("id").and_then(Value::as_str) == Some(id));
        if let Some(event) = event.cloned() {
            self.send(vec![Parcel::of(event)]);
        }
    }

    fn dispatch(&mut self, event: Value, behavior: WebhookBehavior) {
        let parcel = Parcel::of(event);
        let mut parcels = match behavior {
            WebhookBehavior::Prompt => vec![parcel],
            WebhookBehavior::Late(wait) => vec![Parcel { wait, ..parcel }],
            WebhookBehavior::Twice => vec![parcel.clone(), parcel],
            WebhookBehavior::AfterNext => return self.held.push(parcel),
            WebhookBehavior::Forged => vec![Parcel { forged: true, ..parcel }],
            WebhookBehavior::FromAccount(account) => vec![parcel.of_account(&account)],
            WebhookBehavior::Never => vec![],
        };
        parcels.append(&mut self.held);
        self.send(parcels);
    }

    fn send(&self, parcels: Vec<Parcel>) {
        if let Some(courier) = &self.courier {
            // Where the endpoint's runtime has ended, nobody listens.
            let _ = courier.send(parcels);
        }
    }
}
