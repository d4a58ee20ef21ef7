//! Operations: the idempotency record, the job and the outbox row, as one item with one state machine.

pub mod transitions;

use std::time::Duration;

use transitions::Event;
pub use transitions::{State, Worker};

use crate::bounded::{IdempotencyKey, IntentId, Nonce, OperationId, Principal, Tenant};
use crate::caller::Caller;
use crate::change::{Guard, Step};
use crate::clock::Timestamp;
use crate::digest::Fields;
use crate::effect::{CommandName, Effect};
use crate::failure::Failure;
use crate::intent::{Intent, KEPT, Requester};
use crate::item::{Corrupt, Item};
use crate::key::{Key, Kind};

/// Where operations lie. A worker's event source filters on this kind's prefix.
pub const OPERATION: Kind = Kind::ledger("operation");

/// The role of those who look after operations that are not their own.
pub const OPERATOR: &str = "operator";

/// How long after it was accepted an operation may be sent for the first time: the worker's bounded grant.
pub(crate) const GRANT: Duration = Duration::from_secs(60 * 60);
/// After how long a sweeper looks at what should have been dispatched at once.
const OVERDUE: Duration = Duration::from_secs(60);

/// Over how many partitions of the due index a worker's operations are spread.
const DUE_SHARDS: u8 = 4;

/// The partitions of the due index that one kind of worker sweeps for a command: each minute another one first, so that
/// more than a sweep can handle in one of them does not keep it from the others for ever.
pub fn due_shards<E: Effect>(worker: Worker, now: Timestamp) -> impl Iterator<Item = String> {
    in_turn(now).map(move |shard| due_shard::<E>(worker, shard))
}

fn in_turn(now: Timestamp) -> impl Iterator<Item = u8> {
    let first = now.seconds().div_euclid(60).rem_euclid(DUE_SHARDS.into());
    let first = u8::try_from(first).unwrap_or_default();
    (first..DUE_SHARDS).chain(0..first)
}

/// The index partition of a tenant's operations of one command that wait for a person.
#[must_use]
pub fn attention<E: Effect>(tenant: &Tenant) -> String {
    format!("{}#{tenant}", E::COMMAND.submit)
}

fn due_shard<E: Effect>(worker: Worker, shard: u8) -> String {
    format!("{}-{worker}-{shard}", E::COMMAND.submit)
}

/// One accepted command, from the claim of its key to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation<E> {
    /// Its id, derived from the key that claimed it.
    pub id: OperationId,
    /// Whose it is.
    pub tenant: Tenant,
    /// Who submitted it.
    pub requester: Requester,
    /// The intent that it used up.
    pub intent_id: IntentId,
    /// What it does.
    pub effect: E,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// Until when it may be sent for the first time.
    pub execute_until: Timestamp,
    /// Who approved it.
    pub approver: Principal,
    /// Their statement, with its signature.
    pub approval: String,
    /// Where it stands.
    pub state: State,
    /// How often it was begun to be sent.
    pub attempts: i64,
    /// Counts the workers that ever held it; only the last one's word changes balances.
    pub fence: i64,
    /// Until when the worker that holds it may be at work; of one that is unknown, until when its request may still arrive.
    pub lease_until: Option<Timestamp>,
    /// When a sweeper should look at it; none once it is final.
    pub due_at: Option<Timestamp>,
    /// Since when it waits for a person; none where it waits for nobody.
    pub attention_at: Option<Timestamp>,
    /// The exact request, from the first attempt on.
    pub request: Option<String>,
    /// When the first attempt began: the provider's window for duplicates is counted from here.
    pub first_sent_at: Option<Timestamp>,
    /// When a lookup first did not find it, since it was sent last.
    pub absent_since: Option<Timestamp>,
    /// How often evidence was looked for since it was sent last.
    pub lookups: i64,
    /// How often it was sent again because it was proved absent.
    pub resends: i64,
    /// What the provider calls it.
    pub reference: Option<String>,
    /// Why it failed, was cancelled or needs somebody.
    pub reason: Option<String>,
    /// Whether evidence contradicts how it ended, and no person has put it right yet.
    pub conflict: bool,
    /// The person's decision that ended it, where one did.
    pub resolution: Option<String>,
    /// The command that wrote it last.
    pub nonce: Nonce,
}

/// The id that a caller's key has for a command.
///
/// # Errors
/// Never in practice: a digest's text is always of the id's shape.
pub fn id(by: &Caller, command: CommandName, key: &IdempotencyKey) -> Result<OperationId, Failure> {
    let mut fields = Fields::new("countersign.operation");
    fields
        .text("domain", command.domain)
        .text("tenant", by.tenant.as_str())
        .text("principal", by.principal.as_str())
        .text("command", command.submit)
        .integer("version", command.version)
        .text("idempotency_key", key.as_str());
    let tag = crate::bounded::tag(fields.digest().bytes());
    OperationId::parse(&format!("op_{tag}")).map_err(Failure::internal)
}

/// Where an operation lies.
#[must_use]
pub fn key(tenant: &Tenant, id: &OperationId) -> Key {
    OPERATION.key(tenant, &[id])
}

impl<E: Effect> Operation<E> {
    /// The operation that accepts an intent.
    pub(crate) fn accept(
        id: OperationId,
        by: &Caller,
        intent: &Intent<E>,
        approver: Principal,
        approval: &str,
        nonce: Nonce,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            tenant: intent.tenant.clone(),
            requester: Requester::of(by),
            intent_id: intent.id.clone(),
            effect: intent.effect.clone(),
            accepted_at: now,
            execute_until: now + GRANT,
            approver,
            approval: approval.to_owned(),
            state: State::Queued,
            attempts: 0,
            fence: 0,
            lease_until: None,
            due_at: Some(now + OVERDUE),
            attention_at: None,
            request: None,
            first_sent_at: None,
            absent_since: None,
            lookups: 0,
            resends: 0,
            reference: None,
            reason: None,
            conflict: false,
            resolution: None,
            nonce,
        }
    }

    /// The step that claims the key. The record outlives its intent's, whose `consumed_by` points to it.
    pub(crate) fn create(&self, intent_expires_at: Timestamp) -> Result<Step, Failure> {
        let item = Item::new()
            .with("operation_id", self.id.as_str())
            .with("tenant", self.tenant.as_str())
            .with("command", E::COMMAND.submit)
            .with("version", E::COMMAND.version)
            .with("intent_id", self.intent_id.as_str())
            .with("effect", serde_json::to_string(&self.effect).map_err(Failure::internal)?)
            .with("subject", self.effect.subject(&self.tenant).pk())
            .with("accepted_at", self.accepted_at)
            .with("execute_until", self.execute_until)
            .with("approver", self.approver.as_str())
            .with("approval", self.approval.as_str())
            .with("state", self.state.as_str())
            .with("attempts", self.attempts)
            .with("fence", self.fence)
            .with("lookups", self.lookups)
            .with("resends", self.resends)
            .with("nonce", self.nonce.as_str())
            .with_optional("due_shard", self.due_shard(self.state))
            .with_optional("due_at", self.due_at)
            .with("expires", self.accepted_at.max(intent_expires_at) + KEPT);
        Ok(Step::create(key(&self.tenant, &self.id), self.requester.write(item)))
    }

    /// Reads an operation of this command; `None` where the record is of another one.
    ///
    /// # Errors
    /// When the record is malformed.
    pub fn read(item: &Item) -> Result<Option<Self>, Failure> {
        let ours = item.text("command")? == E::COMMAND.submit && item.integer("version")? == E::COMMAND.version;
        if !ours {
            return Ok(None);
        }
        Ok(Some(Self {
            id: item.parse("operation_id", OperationId::parse)?,
            tenant: item.parse("tenant", Tenant::parse)?,
            requester: Requester::read(item)?,
            intent_id: item.parse("intent_id", IntentId::parse)?,
            effect: serde_json::from_str(item.text("effect")?).map_err(|_| Corrupt("effect"))?,
            accepted_at: item.moment("accepted_at")?,
            execute_until: item.moment("execute_until")?,
            approver: item.parse("approver", Principal::parse)?,
            approval: item.text("approval")?.to_owned(),
            state: item.parse("state", State::parse)?,
            attempts: item.integer("attempts")?,
            fence: item.integer("fence")?,
            lease_until: item.optional_moment("lease_until")?,
            due_at: item.optional_moment("due_at")?,
            attention_at: item.optional_moment("attention_at")?,
            request: item.optional_text("request")?.map(str::to_owned),
            first_sent_at: item.optional_moment("first_sent_at")?,
            absent_since: item.optional_moment("absent_since")?,
            lookups: item.integer("lookups")?,
            resends: item.integer("resends")?,
            reference: item.optional_text("reference")?.map(str::to_owned),
            reason: item.optional_text("reason")?.map(str::to_owned),
            conflict: item.flag("conflict"),
            resolution: item.optional_text("resolution")?.map(str::to_owned),
            nonce: item.parse("nonce", Nonce::parse)?,
        }))
    }

    /// Where an arrow leads, and the step that moves it there: from exactly this state and fence, due again at `due` if a
    /// worker, or a person, has something left to do. `None` where the picture has no such arrow.
    pub(crate) fn moves(&self, event: Event, due: Timestamp, nonce: &Nonce) -> Option<(State, Step)> {
        let to = transitions::next(self.state, event, self.attempts)?;
        let step = self.stays(nonce).set("state", to.as_str());
        let step = match self.due_shard(to) {
            None => step.remove("due_shard").remove("due_at"),
            Some(shard) => step.set("due_shard", shard).set("due_at", due),
        };
        // What is in conflict has ended, and waits for a person whatever else it comes to, until that is `cleared`.
        let step = if to == State::NeedsOperator {
            self.waits(step, due)
        } else if self.state == State::NeedsOperator {
            waits_no_longer(step)
        } else {
            step
        };
        Some((to, step))
    }

    /// The step that marks it as contradicted by evidence, once: from then on it waits for a person.
    pub(crate) fn contradicted(&self, since: Timestamp, nonce: &Nonce) -> Step {
        let step = self.stays(nonce).when(Guard::Lacks("conflict")).set("conflict", true);
        self.waits(step, since)
    }

    /// A step of this operation's, by which it is contradicted no longer.
    pub(crate) fn cleared(step: Step) -> Step {
        waits_no_longer(step.when_is("conflict", true).remove("conflict"))
    }

    fn waits(&self, step: Step, since: Timestamp) -> Step {
        step.set("attention", attention::<E>(&self.tenant)).set("attention_at", since)
    }

    /// The step that writes to it while it stays in exactly this state and fence.
    pub(crate) fn stays(&self, nonce: &Nonce) -> Step {
        Step::update(key(&self.tenant, &self.id))
            .when_is("state", self.state.as_str())
            .when_is("fence", self.fence)
            .set("nonce", nonce.as_str())
    }

    /// Whether it has had its effect, has it still, or may have it yet.
    #[must_use]
    pub fn may_have_happened(&self) -> bool {
        self.conflict || !self.state.is_void()
    }

    /// Whether nothing but a person's decision leads on.
    #[must_use]
    pub fn waits_for_a_person(&self) -> bool {
        self.conflict || self.state == State::NeedsOperator
    }

    /// What its state means for the caller, and what must not be done about it.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        if self.conflict {
            return "the provider contradicts what is on record; an operator has to put it right; do not prepare or \
                submit it again";
        }
        if self.state == State::Failed && self.resolution.is_some() {
            return "an operator found out that it did not happen; tell the requester";
        }
        if self.state == State::Queued && self.attempts > 0 {
            return "it was tried without effect and will be tried again; look again later, do not submit anything again";
        }
        self.state.advice()
    }

    fn due_shard(&self, state: State) -> Option<String> {
        let sum = self.id.as_str().bytes().fold(0_u8, u8::wrapping_add);
        state.worker().map(|worker| due_shard::<E>(worker, sum % DUE_SHARDS))
    }
}

fn waits_no_longer(step: Step) -> Step {
    step.remove("attention").remove("attention_at")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_minute_another_partition_is_swept_first_and_none_is_left_out() {
        let orders: Vec<Vec<u8>> =
            (-1..3).map(|minute| in_turn(Timestamp::from_seconds(minute * 60)).collect()).collect();
        assert_eq!(orders, [[3, 0, 1, 2], [0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1]]);
        assert_eq!(in_turn(Timestamp::from_seconds(119)).next(), Some(1));
    }
}
