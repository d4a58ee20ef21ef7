//! A payment provider for one machine: the refund part of Stripe's API, with failures to order.
//!
//! Names, fields and errors are those of <https://docs.stripe.com/api/refunds>; the treatment of repeated requests is
//! <https://docs.stripe.com/api/idempotent_requests>. It moves no money and is no test of Stripe itself; it is a
//! provider that can be made to fail at the moments that matter, and asked afterwards what really happened. Refunds and
//! used keys outlive it in a file; events, deliveries and scripts do not.

mod answer;
mod behavior;
mod idempotency;
mod journal;
mod ledger;
mod params;
mod refund;
mod routes;
mod webhook;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::Router;

pub use self::{
    behavior::{Behavior, LookupBehavior},
    journal::JournalError,
    refund::{Payment, Refund, RefundStatus},
    webhook::{Delivery, Endpoint, WebhookBehavior},
};
use self::{journal::Journal, ledger::Ledger};

/// A request that the provider received, whatever became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The HTTP method.
    pub method: String,
    /// The path, without its query.
    pub path: String,
    /// The `Idempotency-Key` header.
    pub idempotency_key: Option<String>,
}

/// The provider. Clones are the same provider.
#[derive(Debug, Clone)]
pub struct Provider(Arc<Mutex<Ledger>>);

impl Provider {
    /// A provider that forgets everything when it is dropped.
    #[must_use]
    pub fn memory() -> Self {
        Self(Arc::new(Mutex::new(Ledger::default())))
    }

    /// A provider that remembers refunds and the answers to used keys in a file, across a `kill -9` too.
    ///
    /// Payments are not kept: whoever owns the world registers them again. Without a path it is [`Provider::memory`].
    ///
    /// # Errors
    ///
    /// The file cannot be opened or read, or holds something else.
    pub fn open(path: Option<PathBuf>) -> Result<Self, JournalError> {
        let Some(path) = path else { return Ok(Self::memory()) };
        let (journal, lines) = Journal::open(path)?;
        Ok(Self(Arc::new(Mutex::new(Ledger::restored(journal, lines)))))
    }

    /// Makes a payment known. One with the same id is replaced; its refunds stay.
    pub fn register(&self, payment: Payment) {
        self.ledger().register(payment);
    }

    /// Makes the next request to create a refund of this payment meet with `behavior`. Several queue up.
    pub fn script(&self, payment: &str, behavior: Behavior) {
        self.ledger().creations.queue(payment, behavior);
    }

    /// Makes every request to create a refund of this payment that finds no script meet with `behavior`.
    pub fn always(&self, payment: &str, behavior: Behavior) {
        self.ledger().creations.always(payment, behavior);
    }

    /// Makes the next lookup of this payment's refunds, with all its pages, meet with `behavior`. Several queue up.
    pub fn lookup_script(&self, payment: &str, behavior: LookupBehavior) {
        self.ledger().lookups.queue(payment, behavior);
    }

    /// Makes every lookup of this payment's refunds that finds no script meet with `behavior`.
    pub fn lookup_always(&self, payment: &str, behavior: LookupBehavior) {
        self.ledger().lookups.always(payment, behavior);
    }

    /// Takes every script of this payment away: from now on its requests and lookups are treated as they should be.
    pub fn behave(&self, payment: &str) {
        let mut ledger = self.ledger();
        ledger.creations.forget(payment);
        ledger.lookups.forget(payment);
    }

    /// Tells an endpoint of all events from now on; until then there are no webhooks. It takes the place of another.
    ///
    /// # Errors
    ///
    /// There is no client for HTTP to be had.
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    pub fn register_webhook(&self, endpoint: Endpoint) -> Result<(), reqwest::Error> {
        self.ledger().webhooks.register(endpoint)
    }

    /// Makes the telling of the next event meet with `behavior`. Several queue up, one for each event.
    pub fn webhook_script(&self, behavior: WebhookBehavior) {
        self.ledger().webhooks.script(behavior);
    }

    /// Tells of an event once more, as it was the first time. Nothing happens where there is none of this id.
    pub fn tell_again(&self, event: &str) {
        self.ledger().webhooks.tell_again(event);
    }

    /// Every event so far, oldest first, whether anybody was told or not.
    #[must_use]
    pub fn events(&self) -> Vec<serde_json::Value> {
        self.ledger().webhooks.events().to_vec()
    }

    /// Every attempt to tell of an event that came to its end, in the order of these ends.
    #[must_use]
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.ledger().webhooks.deliveries()
    }

    /// Ends the pending refunds of a payment: the bank has answered.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn settle(&self, payment: &str, status: RefundStatus) -> Result<(), JournalError> {
        self.ledger().turn(payment, RefundStatus::Pending, status)
    }

    /// Fails the refunds of a payment that had succeeded: the bank has sent the money back, days later.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn come_back(&self, payment: &str) -> Result<(), JournalError> {
        self.ledger().turn(payment, RefundStatus::Succeeded, RefundStatus::Failed)
    }

    /// Forgets all used keys, as Stripe may from 24 hours on: the same key then makes a new refund.
    ///
    /// Not journaled: a provider opened again from its file remembers them.
    pub fn forget_keys(&self) {
        self.ledger().forget_keys();
    }

    /// The refunds of a payment, oldest first: what really happened to its money.
    #[must_use]
    pub fn effects(&self, payment: &str) -> Vec<Refund> {
        self.ledger().refunds().iter().filter(|refund| refund.payment == payment).cloned().collect()
    }

    /// Every request so far, in the order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Seen> {
        self.ledger().requests().to_vec()
    }

    /// How many requests with a key are hanging right now, so that a test can wait for one to arrive.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.ledger().in_flight()
    }

    /// The HTTP API under `/v1`, and `/_countersign/refunds` and `/_countersign/events` for people.
    pub fn router(&self) -> Router {
        routes::router(self.clone())
    }

    /// The state. A panic elsewhere leaves it whole: every change is a single push or insert.
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
