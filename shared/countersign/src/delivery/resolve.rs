//! Resolving: what no machine can find out, a person decides, with evidence that is kept.

use std::marker::PhantomData;

use super::External;
use super::books::entries;
use crate::bounded::{Nonce, OperationId, Refused, Remark};
use crate::caller::Caller;
use crate::change::{Change, Snapshot, Step};
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::failure::{Code, Failure, Retry};
use crate::key::Key;
use crate::operation::transitions::Event;
use crate::operation::{self, OPERATOR, Operation, State};
use crate::random;

crate::choice! {
    /// What a person found out.
    pub enum Resolution {
        /// It happened, and is with the recipient.
        Succeeded = "succeeded",
        /// It did not happen, or it came back.
        Failed = "failed",
    }
}

/// The command by which an operator ends an operation that waits for a person, or clears a conflict.
#[derive(Debug)]
pub struct Resolve<'a, E> {
    by: &'a Caller,
    operation: OperationId,
    resolution: Resolution,
    evidence: Remark,
    shown: Option<Nonce>,
    nonce: Nonce,
    effect: PhantomData<fn() -> E>,
}

type Resolved<E> = Result<Decision<Operation<E>>, Failure>;

impl<'a, E: External> Resolve<'a, E> {
    /// `by` has found this out, and says how: a [`Remark`].
    ///
    /// # Errors
    /// `invalid_input` for evidence that is none, or when the operating system has no randomness to give.
    pub fn new(
        by: &'a Caller,
        operation: OperationId,
        resolution: Resolution,
        evidence: &str,
    ) -> Result<Self, Failure> {
        let refused =
            |refused: Refused| Failure::invalid_input("evidence", format!("say how it was found out; {refused}"));
        let evidence = Remark::parse(evidence).map_err(refused)?;
        Ok(Self { by, operation, resolution, evidence, shown: None, nonce: random::nonce()?, effect: PhantomData })
    }

    /// The same command, of the operation only as it was when this command had written it last: as it was shown.
    #[must_use]
    pub fn of(self, shown: Option<Nonce>) -> Self {
        Self { shown, ..self }
    }

    /// The same command under this nonce: for whoever has to run it again to the letter.
    #[must_use]
    pub fn under(self, nonce: Nonce) -> Self {
        Self { nonce, ..self }
    }

    fn key(&self) -> Key {
        operation::key(&self.by.tenant, &self.operation)
    }

    /// The operation, if this person may decide about it.
    fn operation(&self, seen: &Snapshot) -> Result<Operation<E>, Failure> {
        if !self.by.has_role(OPERATOR) {
            return Err(Failure::forbidden("only an operator decides what became of an operation"));
        }
        let found = seen.item(&self.key()).map(Operation::<E>::read).transpose()?.flatten();
        let operation = found.ok_or_else(|| Failure::not_found("operation"))?;
        if operation.requester.issuer != self.by.issuer || operation.requester.goes_by(self.by.principal.as_str()) {
            return Err(Failure::forbidden("nobody decides what became of an operation of their own"));
        }
        Ok(operation)
    }

    /// What waits for a person comes to its end.
    fn end(&self, operation: Operation<E>, now: Timestamp) -> Resolved<E> {
        let event = match self.resolution {
            Resolution::Succeeded => Event::Happened,
            Resolution::Failed => Event::Refused,
        };
        let Some((to, step)) = operation.moves(event, now, &self.nonce) else { return Err(not_waiting(operation)) };
        let booked = entries(&operation, to);
        Ok(self.commit(operation, to, step, booked, now))
    }

    /// A contradiction is put right: booked as what happened, or found to be nothing.
    fn clear(&self, operation: Operation<E>, seen: &Snapshot, now: Timestamp) -> Resolved<E> {
        let Operation { effect, tenant, state, .. } = &operation;
        let (event, mut booked) = match (state, self.resolution) {
            (State::Failed | State::Cancelled | State::Expired | State::Returned, Resolution::Succeeded) => {
                (Some(Event::Booked), effect.book(tenant, seen)?)
            }
            (State::Succeeded, Resolution::Failed) => (Some(Event::CameBack), effect.take_back(tenant)),
            (
                State::Queued
                | State::Sending
                | State::Settling
                | State::Unknown
                | State::Succeeded
                | State::Returned
                | State::Failed
                | State::Cancelled
                | State::Expired
                | State::NeedsOperator,
                Resolution::Succeeded | Resolution::Failed,
            ) => (None, Vec::new()),
        };
        let moved = event.and_then(|event| operation.moves(event, now, &self.nonce));
        let (to, step) = moved.unwrap_or_else(|| (*state, operation.stays(&self.nonce)));
        let thaw = effect.thaw(tenant);
        // One step a record: the subject is thawed in the step that books.
        match booked.iter_mut().find(|step| step.key == thaw.key) {
            Some(step) => step.absorb(thaw),
            None => booked.push(thaw),
        }
        Ok(self.commit(operation, to, Operation::<E>::cleared(step), booked, now))
    }

    fn commit(
        &self,
        mut operation: Operation<E>,
        to: State,
        step: Step,
        booked: Vec<Step>,
        now: Timestamp,
    ) -> Decision<Operation<E>> {
        let said = format!("{now} {} says {}: {}", self.by.principal, self.resolution, self.evidence);
        // What was said before stays on record.
        let said = operation.resolution.iter().cloned().chain([said]).collect::<Vec<_>>().join("\n");
        // A person decides about what they were shown, and takes no other person's word off the record.
        let step = step.when_is("nonce", operation.nonce.as_str());
        let step = step.set("resolution", said.as_str()).set("reason", "an operator found out what became of it");
        let mut steps = vec![step];
        steps.extend(booked);
        operation.state = to;
        operation.conflict = false;
        operation.resolution = Some(said);
        Decision::Commit(Change(steps), operation)
    }
}

impl<E: External> Command for Resolve<'_, E> {
    type Answer = Operation<E>;

    fn keys(&self) -> Vec<Key> {
        vec![self.key()]
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Resolved<E> {
        let operation = self.operation(seen)?;
        if operation.nonce == self.nonce {
            return Ok(Decision::Answer(operation));
        }
        if self.shown.as_ref().is_some_and(|shown| *shown != operation.nonce) {
            let message = "the operation has changed since it was shown";
            let failure = Failure::new(Code::NOT_WAITING, Retry::Later, message, "look at it again before you decide");
            return Err(failure.about(operation.id));
        }
        if operation.conflict {
            let missing = seen.missing([&operation.effect.subject(&operation.tenant)]);
            if !missing.is_empty() {
                return Ok(Decision::Need(missing));
            }
            return self.clear(operation, seen, now);
        }
        match operation.state {
            State::NeedsOperator => self.end(operation, now),
            State::Queued
            | State::Sending
            | State::Settling
            | State::Unknown
            | State::Succeeded
            | State::Returned
            | State::Failed
            | State::Cancelled
            | State::Expired => Err(not_waiting(operation)),
        }
    }
}

fn not_waiting<E>(operation: Operation<E>) -> Failure {
    let Operation { id, state, .. } = operation;
    let (retry, next) = if state.is_final() {
        (Retry::Never, "nothing is left to decide")
    } else {
        (Retry::Later, "look again when it is needs_operator")
    };
    Failure::new(Code::NOT_WAITING, retry, format!("the operation is {state} and waits for nobody's decision"), next)
        .about(id)
}
