//! Submitting: claims the key, uses up the intent, holds the consent, reserves the effect, in one change.
//!
//! Two requests for a first call, one for a duplicate, two for a lost race. Once the key is claimed there is no error
//! any more: every repeat gets the receipt.

use std::marker::PhantomData;

use crate::bounded::{IdempotencyKey, IntentId, Nonce, OperationId};
use crate::caller::Caller;
use crate::change::{Change, Snapshot};
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::consent::{self, Authority, Consent};
use crate::effect::Effect;
use crate::failure::{Code, Failure, Retry};
use crate::hold;
use crate::intent::Intent;
use crate::key::Key;
use crate::keys::KeySet;
use crate::operation::{self, Operation};
use crate::random;
#[cfg(feature = "seeded_bugs")]
use crate::seeded::{self, Bug};

/// The command that submits an intent under a key.
#[derive(Debug)]
pub struct Submit<'a, E> {
    by: &'a Caller,
    intent: IntentId,
    operation: OperationId,
    consent_keys: &'a KeySet,
    nonce: Nonce,
    effect: PhantomData<fn() -> E>,
}

/// An accepted command.
#[derive(Debug)]
pub struct Accepted<E> {
    /// The operation as of now.
    pub operation: Operation<E>,
    /// Whether an earlier call had submitted it.
    pub replayed: bool,
}

impl<'a, E: Effect> Submit<'a, E> {
    /// `by` submits the intent under the key.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn new(
        by: &'a Caller,
        intent: IntentId,
        key: &IdempotencyKey,
        consent_keys: &'a KeySet,
    ) -> Result<Self, Failure> {
        let operation = operation::id(by, E::COMMAND, key)?;
        Ok(Self { by, intent, operation, consent_keys, nonce: random::nonce()?, effect: PhantomData })
    }

    /// The same command under this nonce: for whoever has to run it again to the letter.
    #[must_use]
    pub fn under(self, nonce: Nonce) -> Self {
        Self { nonce, ..self }
    }

    /// The answer to a key that has been used.
    fn replay(&self, operation: Operation<E>) -> Result<Accepted<E>, Failure> {
        if !operation.requester.is(self.by) {
            return Err(Failure::not_found(E::COMMAND.noun.as_str()));
        }
        if operation.intent_id != self.intent {
            let noun = E::COMMAND.noun.as_str();
            return Err(Failure::new(
                Code::IDEMPOTENCY_KEY_REUSED,
                Retry::Never,
                format!("this idempotency key was used for another {noun}"),
                format!("make a new key for this {noun}, or call {} with this operation_id", E::COMMAND.status),
            )
            .about(operation.id));
        }
        // A write of this very command that the SDK sent twice is no replay.
        let replayed = operation.nonce != self.nonce;
        Ok(Accepted { operation, replayed })
    }

    /// The intent, if this caller may use it.
    fn intent(&self, seen: &Snapshot) -> Result<Intent<E>, Failure> {
        let item = seen.item(&Intent::<E>::key(&self.by.tenant, &self.intent));
        let intent = item.map(Intent::<E>::read).transpose()?.flatten();
        // Before anything else is said of it: what is another's is not there.
        let intent = intent.filter(|intent| intent.requester.is(self.by));
        intent.ok_or_else(|| Failure::not_found(E::COMMAND.noun.as_str()))
    }

    /// The consent, if it permits the intent and its approver still has the authority.
    fn consent(&self, intent: &Intent<E>, seen: &Snapshot, now: Timestamp) -> Result<Consent, Failure> {
        let item = seen.item(&consent::key(&intent.tenant, &intent.id)).ok_or_else(consent::required::<E>)?;
        let consent =
            Consent::read(item, self.consent_keys).map_err(|forged| consent::mismatch::<E>().because(forged))?;
        consent.permits(intent, now)?;
        let authority = Authority::key(&intent.tenant, consent.approver());
        let unseen = !seen.missing([&authority]).is_empty();
        match Authority::of(seen.item(&authority), intent.effect.demand()) {
            Authority::Covers => Ok(consent),
            Authority::OverLimit | Authority::None if unseen => Ok(consent),
            Authority::OverLimit | Authority::None => Err(consent::revoked::<E>()),
        }
    }

    /// Everything at once, each step guarded by what the decision rests on.
    fn change(
        &self,
        intent: &Intent<E>,
        consent: &Consent,
        accepted: &Operation<E>,
        seen: &Snapshot,
    ) -> Result<Change, Failure> {
        let (tenant, now) = (&intent.tenant, accepted.accepted_at);
        let mut steps = vec![accepted.create(intent.expires_at)?, intent.consume(&self.operation, now)];
        steps.extend(intent.effect.reserve(tenant, &self.operation, seen, now));
        #[cfg(feature = "seeded_bugs")]
        for step in steps.iter_mut().skip(2) {
            let subject = step.key == intent.effect.subject(tenant);
            if seeded::on(if subject { Bug::SubjectNotGuarded } else { Bug::NoteNotGuarded }) {
                step.guards.clear();
            }
        }
        steps.push(consent.guard(now));
        steps.push(Authority::guard(tenant, consent.approver(), intent.effect.demand()));
        Ok(Change(steps))
    }
}

impl<E: Effect> Command for Submit<'_, E> {
    type Answer = Accepted<E>;

    fn keys(&self) -> Vec<Key> {
        let tenant = &self.by.tenant;
        let mut keys = vec![
            operation::key(tenant, &self.operation),
            Intent::<E>::key(tenant, &self.intent),
            consent::key(tenant, &self.intent),
        ];
        keys.extend(hold::key(E::COMMAND).ok());
        keys
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<Accepted<E>>, Failure> {
        let operation = seen.item(&operation::key(&self.by.tenant, &self.operation));
        if let Some(operation) = operation.map(Operation::read).transpose()?.flatten() {
            return self.replay(operation).map(Decision::Answer);
        }
        let intent = self.intent(seen)?;
        if let Some(used_by) = &intent.consumed_by {
            if *used_by == self.operation {
                // Our key used it while we looked: the operation is there by now.
                return Ok(Decision::Need(self.keys()));
            }
            return Err(used::<E>(used_by));
        }
        if intent.expired(now) {
            let (noun, prepare) = (E::COMMAND.noun, E::COMMAND.prepare);
            let message = format!("the {} lapsed", noun.as_str());
            return Err(Failure::new(noun.expired(), Retry::Never, message, format!("call {prepare} again")));
        }
        // Only looked at: what is accepted while a hold is set is stopped, by a guard, before it is sent.
        hold::check(E::COMMAND, seen)?;
        let consent = self.consent(&intent, seen, now)?;
        intent.effect.check(&intent.tenant, seen)?;
        let accepted = Operation::accept(
            self.operation.clone(),
            self.by,
            &intent,
            consent.approver().clone(),
            consent.token(),
            self.nonce.clone(),
            now,
        );
        let change = self.change(&intent, &consent, &accepted, seen)?;
        // What the change guards by itself need not be read first: a lost commit shows it.
        let mut unseen = intent.effect.reconsider(&intent.tenant, seen, now)?;
        unseen.retain(|key| change.0.iter().all(|step| step.key != *key));
        if !unseen.is_empty() {
            return Ok(Decision::Need(unseen));
        }
        Ok(Decision::Commit(change, Accepted { operation: accepted, replayed: false }))
    }
}

/// Another key has used the intent.
fn used<E: Effect>(operation: &OperationId) -> Failure {
    let noun = E::COMMAND.noun;
    Failure::new(
        noun.used(),
        Retry::Never,
        format!("the {} was already submitted under another key", noun.as_str()),
        format!("call {} with this operation_id; do not prepare it again", E::COMMAND.status),
    )
    .about(operation.clone())
}
