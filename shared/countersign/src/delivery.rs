//! Delivery: an external effect, sent at most once at a time, by whoever holds the fence, and never again on a guess.
//!
//! A step of its own persists that sending begins, before it does. A reply that did not come makes the operation
//! `unknown`, never `failed`; a worker that did not come back likewise.

mod claim;
mod record;

use std::future::Future;
use std::time::Duration;

pub use claim::{Claim, Claimed, Ticket};
pub use record::Record;

use crate::bounded::{IntentId, OperationId, Tenant};
use crate::change::Step;
use crate::clock::Clock;
use crate::command::execute;
use crate::effect::Effect;
use crate::failure::{Code, Failure};
use crate::keys::KeySet;
use crate::ledger::Ledger;
use crate::operation::State;

/// An effect that a provider outside carries out.
pub trait External: Effect {
    /// Holds the subject to the terms that the intent pinned.
    fn unchanged(&self, tenant: &Tenant) -> Step;

    /// What changes when it has happened.
    fn settle(&self, tenant: &Tenant) -> Vec<Step>;

    /// What changes when it is certain that it did not and will not happen.
    fn release(&self, tenant: &Tenant) -> Vec<Step>;
}

/// What a provider of effects promises: by this, whoever clears up a lost reply knows what a lookup proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// How long the same idempotency key gets the first answer again; `None` where there is no such promise.
    pub duplicate_window: Option<Duration>,
    /// How long after an effect a lookup is sure to find it; `None` where there is no lookup.
    pub lookup_lag: Option<Duration>,
    /// Whether a second request with the same key and another body is refused.
    pub compares_body: bool,
}

/// A provider of effects.
pub trait Provider<E>: Sync {
    /// What it promises.
    const TERMS: Terms;

    /// The exact request of a tenant's intent: the same bytes each time. It is persisted before it is sent, and names
    /// both to the provider, so that what the provider tells later leads back to the operation.
    ///
    /// # Errors
    /// When the provider has no way to say this effect, such as an amount that it cannot represent.
    fn request(&self, tenant: &Tenant, intent: &IntentId, effect: &E) -> Result<String, Unsayable>;

    /// Sends the request under the intent's id as idempotency key, for the `attempt`th time, the first being 1. It
    /// returns within the lease, come what may.
    fn send(&self, intent: &IntentId, request: &str, attempt: i64) -> impl Future<Output = Sent> + Send;

    /// Looks for the effect of an intent, by the request that was persisted before it was sent. It changes nothing at
    /// the provider.
    fn look_up(&self, intent: &IntentId, request: &str) -> impl Future<Output = Found> + Send;
}

/// The provider cannot be asked for this effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the provider cannot represent this effect: {0}")]
pub struct Unsayable(pub &'static str);

/// What is known after sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// It happened; what the provider calls it.
    Happened(String),
    /// It was accepted and is not final; what the provider calls it.
    Accepted(String),
    /// It was refused for good; why.
    Refused(String),
    /// It was certainly not executed and may be sent again later; why.
    NotExecuted(String),
    /// Nothing is known; why.
    Unknown(String),
}

/// What a lookup has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// It happened; what the provider calls it.
    Happened(String),
    /// It was accepted and is not final; what the provider calls it.
    Accepted(String),
    /// It was accepted and came to nothing, or came back: no money is with the recipient.
    Undone {
        /// What the provider calls it.
        reference: String,
        /// Why.
        reason: String,
    },
    /// The whole list was read, and it is not there.
    Absent,
    /// What is there contradicts the request: two effects of one intent, or another account, mode, subject, amount or
    /// currency; why.
    Contradiction(String),
    /// Nothing was proved: no answer, 401, 404, 5xx, a list that did not end; why.
    Nothing(String),
}

/// Which operation, as a stream record or a sweeper names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Whose it is.
    pub tenant: Tenant,
    /// Its id.
    pub operation: OperationId,
}

impl Target {
    /// Reads an operation's partition key.
    #[must_use]
    pub fn parse(pk: &str) -> Option<Self> {
        let (tenant, id) = crate::operation::OPERATION.split(pk)?;
        Some(Self { tenant, operation: OperationId::parse(id).ok()? })
    }
}

/// Records an outcome, however often it takes: what is known now, nobody else will know.
async fn record<E: External>(ledger: &impl Ledger, clock: &impl Clock, record: &Record<E>) -> Result<State, Failure> {
    let mut wait = RECORD_AGAIN;
    loop {
        match execute(ledger, clock, record).await {
            Err(failure) if failure.code() == Code::TEMPORARILY_UNAVAILABLE && wait <= RECORD_LAST => {
                tokio::time::sleep(wait).await;
                wait *= 2;
            }
            recorded => return recorded,
        }
    }
}

/// The first wait before an outcome is recorded again; doubled each time.
const RECORD_AGAIN: Duration = Duration::from_millis(100);
/// The last such wait: some 13 seconds in all, which a worker still has after its provider took the longest it may.
const RECORD_LAST: Duration = Duration::from_millis(6_400);

/// Takes an operation as far as it goes now, and says where it stands. Called as often as anybody likes.
///
/// # Errors
/// When the ledger does not answer. An operation that was being sent stays so until its lease lapses.
pub async fn deliver<E: External, P: Provider<E>>(
    ledger: &impl Ledger,
    clock: &impl Clock,
    provider: &P,
    consent_keys: &KeySet,
    target: &Target,
) -> Result<State, Failure> {
    let claim = Claim::<E, P>::new(target.clone(), provider, consent_keys)?;
    match execute(ledger, clock, &claim).await? {
        Claimed::Nothing(state) => Ok(state),
        Claimed::Ticket(ticket) => {
            let Ticket { operation, request } = &*ticket;
            let sent = provider.send(&operation.intent_id, request, operation.attempts).await;
            record(ledger, clock, &Record::new(*ticket, sent)?).await
        }
    }
}
