//! Delivery: an external effect, sent at most once at a time, by whoever holds the fence, and never again on a guess.
//!
//! A step of its own persists that sending begins, before it does. A reply that did not come makes the operation
//! `unknown`, never `failed`; a worker that did not come back likewise.

mod attention;
mod books;
mod cancel;
mod claim;
mod evidence;
mod record;
mod resolve;
mod sweep;

use std::future::Future;
use std::time::Duration;

pub use attention::{Foreseen, Look, Looked, Place, Waiting, waiting};
pub use cancel::Cancel;
pub use claim::{Claim, Claimed, Ticket};
pub use evidence::Evidence;
pub use record::Record;
pub use resolve::{Resolution, Resolve};
pub use sweep::{attempt, sweep};

use crate::bounded::{IntentId, OperationId, Tenant};
use crate::change::{Snapshot, Step};
use crate::clock::Clock;
use crate::command::{Command, Decision, execute, execute_on};
use crate::effect::Effect;
use crate::failure::{Code, Failure};
use crate::intent::Intent;
use crate::keys::KeySet;
use crate::ledger::Ledger;
use crate::operation::{self, Operation, State};

/// An effect that a provider outside carries out.
pub trait External: Effect {
    /// Holds the subject to the terms that the intent pinned, and to not being frozen.
    fn unchanged(&self, tenant: &Tenant) -> Step;

    /// Whether the subject, as it was seen, is frozen: nothing of it is sent until a person has put it right.
    fn frozen(&self, tenant: &Tenant, seen: &Snapshot) -> bool;

    /// What changes when it has happened.
    fn settle(&self, tenant: &Tenant) -> Vec<Step>;

    /// What changes when it is certain that it did not and will not happen.
    fn release(&self, tenant: &Tenant) -> Vec<Step>;

    /// What changes when it had happened and has come back.
    fn take_back(&self, tenant: &Tenant) -> Vec<Step>;

    /// What changes when it has happened although it had been released.
    ///
    /// # Errors
    /// When the subject, as far as it was seen, has no room for it.
    fn book(&self, tenant: &Tenant, seen: &Snapshot) -> Result<Vec<Step>, Failure>;

    /// Freezes the subject for one conflict more.
    fn freeze(&self, tenant: &Tenant) -> Step;

    /// Frees the subject of one conflict.
    fn thaw(&self, tenant: &Tenant) -> Step;
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

    /// The exact request of an intent: the same bytes each time. It is persisted before it is sent. It names tenant and
    /// intent in a way that the provider gives back, so that an event or a lookup leads back to the operation.
    ///
    /// # Errors
    /// When the provider has no way to say this effect, such as an amount that it cannot represent.
    fn request(&self, tenant: &Tenant, intent: &IntentId, effect: &E) -> Result<String, Unsayable>;

    /// Sends the request under the intent's id as idempotency key, for the `attempt`th time, the first being 1. It
    /// returns within the lease, come what may.
    fn send(&self, intent: &IntentId, request: &str, attempt: i64) -> impl Future<Output = Sent> + Send;

    /// Looks for the effect of an intent, by the request that was persisted before it was sent. It changes nothing at the
    /// provider.
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
    /// It was accepted, and is not final or need not stand any more: an answer that is given again tells of the past. What
    /// the provider calls it.
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
    /// What is there contradicts the request: two effects of one intent, or one that is not what was asked for; why.
    Contradiction(String),
    /// Nothing was proved: no answer, a refusal of the lookup itself, a list that did not end; why.
    Nothing(String),
}

/// Where an operation stands after a worker has handled it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Its state.
    pub state: State,
    /// Whether evidence contradicts how it ended: a person has to put it right.
    pub conflict: bool,
}

impl Outcome {
    const fn of<E>(operation: &Operation<E>) -> Self {
        Self { state: operation.state, conflict: operation.conflict }
    }
}

impl From<State> for Outcome {
    fn from(state: State) -> Self {
        Self { state, conflict: false }
    }
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

/// Carries a command out although the ledger stumbles, with waits up to the `last`. A repeat knows what the command has
/// written by its nonce.
async fn insist<C: Command>(
    ledger: &impl Ledger,
    clock: &impl Clock,
    command: &C,
    last: Duration,
) -> Result<C::Answer, Failure> {
    let mut wait = AGAIN;
    loop {
        match execute(ledger, clock, command).await {
            Err(failure) if failure.code() == Code::TEMPORARILY_UNAVAILABLE && wait <= last => {
                tokio::time::sleep(wait).await;
                wait *= 2;
            }
            carried_out => return carried_out,
        }
    }
}

/// Records what is known, however often it takes: what is known now, nobody else will know.
async fn record<C: Command>(ledger: &impl Ledger, clock: &impl Clock, record: &C) -> Result<C::Answer, Failure> {
    insist(ledger, clock, record, RECORD_LAST).await
}

/// The first wait before something is written again; doubled each time.
const AGAIN: Duration = Duration::from_millis(100);
/// The last wait before an operation is claimed again: a claim whose reply was lost would stay until its lease lapses,
/// and nobody would know that nothing was sent.
const CLAIM_LAST: Duration = Duration::from_millis(400);
/// The last wait before an outcome is recorded again: some 13 seconds in all, which a worker still has after its provider took the longest it may.
const RECORD_LAST: Duration = Duration::from_millis(6_400);
/// How long a worker may be at it. Longer than any worker runs, so that a lapsed lease means a dead worker.
const LEASE: Duration = Duration::from_secs(90);

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
) -> Result<Outcome, Failure> {
    let claim = Claim::<E, P>::new(target.clone(), provider, consent_keys)?;
    match insist(ledger, clock, &claim, CLAIM_LAST).await? {
        Claimed::Nothing(state) => Ok(state.into()),
        Claimed::Ticket(ticket) => {
            let sent = provider.send(&ticket.provider_key(), &ticket.request, ticket.operation.attempts).await;
            record(ledger, clock, &Record::new(*ticket, sent)?).await
        }
    }
}

/// Looks at the provider for what became of an operation, records what that proves, and says where it stands. Called as
/// often as anybody likes: by a schedule for what is due, and for whatever an event hints at.
///
/// # Errors
/// When there is no such operation, or the ledger does not answer.
pub async fn reconcile<E: External, P: Provider<E>>(
    ledger: &impl Ledger,
    clock: &impl Clock,
    provider: &P,
    target: &Target,
) -> Result<Outcome, Failure> {
    let key = operation::key(&target.tenant, &target.operation);
    let seen = ledger.load(std::slice::from_ref(&key)).await?;
    let operation = seen.item(&key).map(Operation::<E>::read).transpose()?.flatten();
    let operation = operation.ok_or_else(|| Failure::not_found("operation"))?;
    let looked_at = clock();
    // Whoever is sending it right now will know in a moment.
    if operation.state == State::Sending && operation.lease_until.is_some_and(|until| until > looked_at) {
        return Ok(Outcome::of(&operation));
    }
    let sent =
        operation.request.map_or_else(|| provider.request(&target.tenant, &operation.intent_id, &operation.effect), Ok);
    let found = match sent {
        Err(unsayable) => Found::Nothing(unsayable.0.to_owned()),
        Ok(_) if P::TERMS.lookup_lag.is_none() => Found::Nothing("the provider has no lookup".to_owned()),
        Ok(request) => provider.look_up(&operation.intent_id, &request).await,
    };
    let evidence = Evidence::<E>::new(target.clone(), found, looked_at, P::TERMS)?;
    // What was seen before the lookup will do where something is written: then the write finds out whether it is so still.
    if let Ok(Decision::Commit(..)) = evidence.decide(&seen, clock()) {
        match execute_on(ledger, clock, &evidence, seen).await {
            Err(failure) if failure.code() == Code::TEMPORARILY_UNAVAILABLE => {}
            recorded => return recorded,
        }
    }
    record(ledger, clock, &evidence).await
}

/// Which operation has used an intent, where a provider's event names one, and for what effect.
///
/// # Errors
/// When the ledger does not answer, or the record is malformed.
pub async fn target_of<E: Effect>(
    ledger: &impl Ledger,
    tenant: &Tenant,
    intent: &IntentId,
) -> Result<Option<(Target, E)>, Failure> {
    let key = Intent::<E>::key(tenant, intent);
    let seen = ledger.load(std::slice::from_ref(&key)).await?;
    let intent = seen.item(&key).map(Intent::<E>::read).transpose()?.flatten();
    let used = intent.and_then(|intent| intent.consumed_by.map(|operation| (operation, intent.effect)));
    Ok(used.map(|(operation, effect)| (Target { tenant: tenant.clone(), operation }, effect)))
}
