//! Cancelling: an operation is stopped, and what it had reserved released, as long as nothing was begun to be sent.

use std::marker::PhantomData;

use super::External;
use super::books::entries;
use crate::bounded::{Nonce, OperationId};
use crate::caller::Caller;
use crate::change::{Change, Snapshot};
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::failure::{Code, Failure, Retry};
use crate::key::Key;
use crate::operation::transitions::Event;
use crate::operation::{self, OPERATOR, Operation, State};
use crate::random;
#[cfg(feature = "seeded_bugs")]
use crate::seeded::{self, Bug};

/// The command by which the requester or an operator stops an operation.
#[derive(Debug)]
pub struct Cancel<'a, E> {
    by: &'a Caller,
    operation: OperationId,
    nonce: Nonce,
    effect: PhantomData<fn() -> E>,
}

impl<'a, E: External> Cancel<'a, E> {
    /// `by` stops the operation.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn new(by: &'a Caller, operation: OperationId) -> Result<Self, Failure> {
        Ok(Self { by, operation, nonce: random::nonce()?, effect: PhantomData })
    }

    /// The same command under this nonce: for whoever has to run it again to the letter.
    #[must_use]
    pub fn under(self, nonce: Nonce) -> Self {
        Self { nonce, ..self }
    }

    fn key(&self) -> Key {
        operation::key(&self.by.tenant, &self.operation)
    }
}

impl<E: External> Command for Cancel<'_, E> {
    type Answer = Operation<E>;

    fn keys(&self) -> Vec<Key> {
        vec![self.key()]
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<Operation<E>>, Failure> {
        let found = seen.item(&self.key()).map(Operation::<E>::read).transpose()?.flatten();
        let found = found.filter(|found| found.requester.is(self.by) || self.by.has_role(OPERATOR));
        let mut operation = found.ok_or_else(|| Failure::not_found("operation"))?;
        if operation.state == State::Cancelled && !operation.conflict {
            return Ok(Decision::Answer(operation));
        }
        #[cfg(feature = "seeded_bugs")]
        if seeded::on(Bug::CancelAfterAttempt) {
            operation.attempts = 0;
        }
        let Some((to @ State::Cancelled, step)) = operation.moves(Event::Stopped, now, &self.nonce) else {
            let message = too_late(operation.state);
            let failure = Failure::new(Code::TOO_LATE_TO_CANCEL, Retry::Never, message, operation.advice());
            return Err(failure.about(operation.id));
        };
        let reason =
            if operation.requester.is(self.by) { "its requester cancelled it" } else { "an operator cancelled it" };
        let mut steps = vec![step.set("reason", reason)];
        steps.extend(entries(&operation, to));
        operation.state = to;
        operation.reason = Some(reason.to_owned());
        Ok(Decision::Commit(Change(steps), operation))
    }
}

/// Why an operation in this state is not cancelled.
const fn too_late(state: State) -> &'static str {
    match state {
        // Only one that was tried gets here.
        State::Queued => "it was begun to be sent and is about to be tried again, so it can no longer be cancelled",
        State::Sending => "it is being sent and can no longer be cancelled",
        State::Settling => "the provider has accepted it, so it can no longer be cancelled",
        State::Unknown => "it was sent, and whether it happened is not known; it can no longer be cancelled",
        State::Succeeded => "it has happened and can no longer be cancelled",
        State::Returned => "it has happened and came back; there is nothing left to cancel",
        State::Failed => "the provider refused it; there is nothing left to cancel",
        // Only one that the provider contradicts gets here.
        State::Cancelled => "it was cancelled already, and the provider contradicts that; cancelling changes nothing",
        State::Expired => "it lapsed before it was sent; there is nothing left to cancel",
        State::NeedsOperator => "whether it happened is an operator's to find out; it can no longer be cancelled",
    }
}
