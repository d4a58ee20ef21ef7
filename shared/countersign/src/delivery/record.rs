//! Recording: what sending came to, and the balances, in one change under the fence.

use std::time::Duration;

use super::{External, Sent, Ticket};
use crate::bounded::Nonce;
use crate::change::{Change, Guard, Snapshot, Step};
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::failure::Failure;
use crate::key::Key;
use crate::operation::transitions::Event;
use crate::operation::{self, Operation, State};
use crate::random;

/// The first wait before something that was not executed is sent again; doubled each time.
const BACKOFF: Duration = Duration::from_secs(5);
/// The longest such wait.
const LONGEST: Duration = Duration::from_secs(300);
/// When a sweeper looks at what is not final.
const LATER: Duration = Duration::from_secs(60);

/// The command that records an outcome.
#[derive(Debug)]
pub struct Record<E> {
    ticket: Ticket<E>,
    sent: Sent,
    nonce: Nonce,
}

impl<E: External> Record<E> {
    /// Records what the ticket's request came to.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn new(ticket: Ticket<E>, sent: Sent) -> Result<Self, Failure> {
        Ok(Self { ticket, sent, nonce: random::nonce()? })
    }

    fn key(&self) -> Key {
        operation::key(&self.ticket.operation.tenant, &self.ticket.operation.id)
    }

    const fn event(&self) -> Event {
        match self.sent {
            Sent::Happened(_) => Event::Happened,
            Sent::Accepted(_) => Event::Accepted,
            Sent::Refused(_) => Event::Refused,
            Sent::NotExecuted(_) => Event::NotExecuted,
            Sent::Unknown(_) => Event::Lost,
        }
    }

    /// Whether this worker's word counts: the last one's always; an earlier one's only as evidence that it happened.
    fn counts(&self, operation: &Operation<E>) -> bool {
        let holds = operation.state == State::Sending && operation.fence == self.ticket.operation.fence;
        holds || matches!(self.sent, Sent::Happened(_))
    }

    fn outcome(&self, step: Step) -> Step {
        match &self.sent {
            Sent::Happened(reference) | Sent::Accepted(reference) => {
                step.set("reference", reference.as_str()).remove("reason")
            }
            Sent::Refused(reason) | Sent::NotExecuted(reason) | Sent::Unknown(reason) => {
                step.set("reason", reason.as_str())
            }
        }
    }

    fn due(&self, operation: &Operation<E>, now: Timestamp) -> Timestamp {
        if !matches!(self.sent, Sent::NotExecuted(_)) {
            return now + LATER;
        }
        let doublings = u32::try_from(operation.attempts.saturating_sub(1)).unwrap_or(0).min(10);
        now + BACKOFF.saturating_mul(1 << doublings).min(LONGEST)
    }
}

impl<E: External> Command for Record<E> {
    type Answer = State;

    fn keys(&self) -> Vec<Key> {
        vec![self.key()]
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<State>, Failure> {
        let operation = seen.item(&self.key()).map(Operation::<E>::read).transpose()?.flatten();
        let operation = operation.ok_or_else(|| Failure::not_found("operation"))?;
        if operation.nonce == self.nonce || !self.counts(&operation) {
            return Ok(Decision::Answer(operation.state));
        }
        let event = self.event();
        let Some((to, step)) = operation.moves(event, self.due(&operation, now), &self.nonce) else {
            return Ok(contradicted(&operation, &self.nonce, event));
        };
        let mut steps = vec![self.outcome(step.remove("lease_until"))];
        match to {
            State::Succeeded => steps.extend(operation.effect.settle(&operation.tenant)),
            State::Failed => steps.extend(operation.effect.release(&operation.tenant)),
            State::Queued
            | State::Sending
            | State::Settling
            | State::Unknown
            | State::Returned
            | State::Cancelled
            | State::Expired
            | State::NeedsOperator => {}
        }
        Ok(Decision::Commit(Change(steps), to))
    }
}

/// It happened although the operation had ended without: marked, for a person to put right.
fn contradicted<E: External>(operation: &Operation<E>, nonce: &Nonce, event: Event) -> Decision<State> {
    let state = operation.state;
    if event != Event::Happened || !state.is_void() || operation.conflict {
        return Decision::Answer(state);
    }
    let step = Step::update(operation::key(&operation.tenant, &operation.id))
        .when_is("state", state.as_str())
        .when(Guard::Lacks("conflict"))
        .set("conflict", true)
        .set("nonce", nonce.as_str());
    Decision::Commit(Change(vec![step]), state)
}
