//! Claiming: a worker takes an operation, with a fence and a lease, and persists the exact request before it is sent.

use std::marker::PhantomData;

use super::books::entries;
use super::evidence::{first_look, recognized};
use super::{External, LEASE, Provider, Target};
use crate::bounded::{IntentId, Nonce};
use crate::change::{Change, Guard, Snapshot, Step};
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::consent::{self, Authority, Consent};
use crate::failure::Failure;
use crate::hold;
use crate::intent::Intent;
use crate::item::{Corrupt, Item};
use crate::key::Key;
use crate::keys::KeySet;
use crate::operation::transitions::Event;
use crate::operation::{self, Operation, State};
use crate::random;
#[cfg(feature = "seeded_bugs")]
use crate::seeded::{self, Bug};

type Claims<E> = Result<Decision<Claimed<E>>, Failure>;

/// The command that takes an operation.
#[derive(Debug)]
pub struct Claim<'a, E, P> {
    target: Target,
    provider: &'a P,
    consent_keys: &'a KeySet,
    nonce: Nonce,
    effect: PhantomData<fn() -> E>,
}

/// What a worker has got.
#[derive(Debug)]
pub enum Claimed<E> {
    /// The right and the duty to send.
    Ticket(Box<Ticket<E>>),
    /// Nothing to send; where it stands.
    Nothing(State),
}

/// The right to send one operation once.
#[derive(Debug)]
pub struct Ticket<E> {
    /// The operation as it was claimed.
    pub operation: Operation<E>,
    /// The exact request.
    pub request: String,
}

impl<E> Ticket<E> {
    /// Under which key the provider is asked: the intent's, whichever attempt it is, so that it recognizes a repeat.
    #[must_use]
    pub fn provider_key(&self) -> IntentId {
        #[cfg(feature = "seeded_bugs")]
        if seeded::on(Bug::KeyPerAttempt) {
            let text = self.operation.intent_id.as_str();
            let attempt = format!("{}{}", text.get(..30).unwrap_or_default(), self.operation.attempts % 10);
            return IntentId::parse(&attempt).unwrap_or_else(|_| self.operation.intent_id.clone());
        }
        self.operation.intent_id.clone()
    }
}

impl<'a, E: External, P: Provider<E>> Claim<'a, E, P> {
    /// Takes the target, to send it to the provider.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn new(target: Target, provider: &'a P, consent_keys: &'a KeySet) -> Result<Self, Failure> {
        Ok(Self { target, provider, consent_keys, nonce: random::nonce()?, effect: PhantomData })
    }

    /// The same command under this nonce: for whoever has to run it again to the letter.
    #[must_use]
    pub fn under(self, nonce: Nonce) -> Self {
        Self { nonce, ..self }
    }

    fn key(&self) -> Key {
        operation::key(&self.target.tenant, &self.target.operation)
    }

    /// What a queued operation comes to.
    fn queued(&self, operation: Operation<E>, seen: &Snapshot, now: Timestamp) -> Claims<E> {
        if operation.attempts > 0 && operation.due_at.is_some_and(|due| due > now) {
            return Ok(Decision::Answer(Claimed::Nothing(State::Queued)));
        }
        let [intent, consent, authority, subject, control] = Self::relied_on(&operation)?;
        let missing = seen.missing([&intent, &consent, &authority, &subject, &control]);
        if !missing.is_empty() {
            return Ok(Decision::Need(missing));
        }
        // Before anything is released on the operation's word.
        let intent = agreed(&operation, seen.item(&intent))?;
        if operation.execute_until <= now {
            return self.give_up(&operation, Event::Lapsed, "it was not sent in time", now);
        }
        if operation.attempts > 0 && P::TERMS.duplicate_window.is_some() && !recognized(&operation, P::TERMS, now) {
            return self.give_up(&operation, Event::Lapsed, "the provider would no longer recognize a repeat", now);
        }
        if hold::check(E::COMMAND, seen).is_err() || operation.effect.frozen(&operation.tenant, seen) {
            return Ok(Decision::Answer(Claimed::Nothing(State::Queued)));
        }
        let authorized = Authority::of(seen.item(&authority), operation.effect.demand()) == Authority::Covers;
        match seen.item(&consent) {
            #[cfg(feature = "seeded_bugs")]
            _ if seeded::on(Bug::ConsentNotRechecked) => {}
            Some(item) if authorized && stands(&operation, item) => self.signed(&operation, &intent, item)?,
            Some(_) | None => return self.give_up(&operation, Event::Stopped, "the approval was withdrawn", now),
        }
        let unchanged = operation.effect.unchanged(&operation.tenant);
        if !unchanged.holds(seen.item(&subject)) {
            return self.give_up(&operation, Event::Stopped, "its subject changed", now);
        }
        match self.provider.request(&operation.tenant, &operation.intent_id, &operation.effect) {
            // A resend is byte for byte the first request: the provider compares, and so do we.
            Ok(request) if operation.request.as_ref().is_some_and(|first| *first != request) => {
                self.give_up(&operation, Event::Stopped, "its first request cannot be repeated to the letter", now)
            }
            Ok(request) => self.send(operation, request, unchanged, now),
            Err(unsayable) => self.give_up(&operation, Event::Stopped, unsayable.0, now),
        }
    }

    /// Whether the approval is what a person signed, to the letter.
    fn signed(&self, operation: &Operation<E>, intent: &Intent<E>, consent: &Item) -> Result<(), Failure> {
        let consent = Consent::read(consent, self.consent_keys).map_err(|forged| tampered().because(forged))?;
        let same = *consent.approver() == operation.approver && consent.stands_for(intent).is_ok();
        if same { Ok(()) } else { Err(tampered()) }
    }

    /// `queued -> sending`, if all that the operation relies on still holds in that very moment.
    fn send(&self, mut operation: Operation<E>, request: String, unchanged: Step, now: Timestamp) -> Claims<E> {
        let lease = now + LEASE;
        let Some((to, step)) = operation.moves(Event::Claimed, lease, &self.nonce) else {
            return Ok(Decision::Answer(Claimed::Nothing(operation.state)));
        };
        let step = step
            .when(Guard::After("execute_until", now))
            .set("request", request.as_str())
            .set("lease_until", lease)
            .set("first_sent_at", operation.first_sent_at.unwrap_or(now))
            .set("lookups", 0)
            .remove("absent_since")
            .add("fence", 1)
            .add("attempts", 1);
        let Operation { tenant, intent_id, approval, approver, .. } = &operation;
        let change = Change(vec![
            step,
            consent::unrevoked(tenant, intent_id, approval),
            Authority::guard(tenant, approver, operation.effect.demand()),
            unchanged,
            hold::guard(E::COMMAND)?,
        ]);
        #[cfg(feature = "seeded_bugs")]
        let change = if seeded::on(Bug::ConsentNotRechecked) {
            Change(change.0.into_iter().filter(|step| step.key != consent::key(tenant, intent_id)).collect())
        } else {
            change
        };
        operation.state = to;
        operation.fence += 1;
        operation.attempts += 1;
        operation.lease_until = Some(lease);
        operation.first_sent_at.get_or_insert(now);
        operation.nonce = self.nonce.clone();
        #[cfg(feature = "seeded_bugs")]
        if seeded::on(Bug::NoDurableClaim) {
            return Ok(Decision::Answer(Claimed::Ticket(Box::new(Ticket { operation, request }))));
        }
        Ok(Decision::Commit(change, Claimed::Ticket(Box::new(Ticket { operation, request }))))
    }

    /// An operation that is not sent (again): released if it never was, otherwise for somebody to look at.
    fn give_up(&self, operation: &Operation<E>, event: Event, reason: &str, now: Timestamp) -> Claims<E> {
        let Some((to, step)) = operation.moves(event, first_look(now), &self.nonce) else {
            return Ok(Decision::Answer(Claimed::Nothing(operation.state)));
        };
        let mut steps = vec![step.set("reason", reason)];
        steps.extend(entries(operation, to));
        Ok(Decision::Commit(Change(steps), Claimed::Nothing(to)))
    }

    /// The records that sending relies on: intent, consent, authority, subject, hold.
    fn relied_on(operation: &Operation<E>) -> Result<[Key; 5], Failure> {
        let tenant = &operation.tenant;
        Ok([
            Intent::<E>::key(tenant, &operation.intent_id),
            consent::key(tenant, &operation.intent_id),
            Authority::key(tenant, &operation.approver),
            operation.effect.subject(tenant),
            hold::key(E::COMMAND)?,
        ])
    }
}

impl<E: External, P: Provider<E>> Command for Claim<'_, E, P> {
    type Answer = Claimed<E>;

    fn keys(&self) -> Vec<Key> {
        vec![self.key()]
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Claims<E> {
        let operation = seen.item(&self.key()).map(Operation::<E>::read).transpose()?.flatten();
        let operation = operation.ok_or_else(|| Failure::not_found("operation"))?;
        match operation.state {
            State::Queued => self.queued(operation, seen, now),
            State::Sending if operation.nonce == self.nonce => {
                // Our own claim, which the SDK sent twice.
                let request = operation.request.clone().ok_or(Corrupt("request"))?;
                Ok(Decision::Answer(Claimed::Ticket(Box::new(Ticket { operation, request }))))
            }
            State::Sending if operation.lease_until.is_none_or(|until| until <= now) => {
                #[cfg(feature = "seeded_bugs")]
                if seeded::on(Bug::RerunOnLapse) {
                    let step = operation.stays(&self.nonce).set("state", State::Queued.as_str()).set("due_at", now);
                    return Ok(Decision::Commit(Change(vec![step]), Claimed::Nothing(State::Queued)));
                }
                // Whoever held it is dead, and how far it came nobody knows.
                self.give_up(&operation, Event::Lost, "the worker that sent it did not come back", now)
            }
            state @ (State::Sending
            | State::Settling
            | State::Unknown
            | State::Succeeded
            | State::Returned
            | State::Failed
            | State::Cancelled
            | State::Expired
            | State::NeedsOperator) => Ok(Decision::Answer(Claimed::Nothing(state))),
        }
    }
}

/// The intent that was agreed on, if the operation is still exactly that. Where it is not, somebody has written to the
/// ledger who should not have: nothing is sent and nothing released.
fn agreed<E: External>(operation: &Operation<E>, intent: Option<&Item>) -> Result<Intent<E>, Failure> {
    let intent = intent.map(Intent::<E>::read).transpose()?.flatten().ok_or_else(tampered)?;
    let same = intent.effect == operation.effect && intent.consumed_by.as_ref() == Some(&operation.id);
    if same { Ok(intent) } else { Err(tampered()) }
}

/// Whether the approval on record is the one that was submitted on, and nobody took it back.
fn stands<E>(operation: &Operation<E>, consent: &Item) -> bool {
    consent.text("statement") == Ok(operation.approval.as_str()) && consent.get("revoked_at").is_none()
}

fn tampered() -> Failure {
    Failure::internal("the operation is not what was approved")
}
