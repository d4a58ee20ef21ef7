//! Recording: what sending came to, and the balances, in one change under the fence.

use std::time::Duration;

use super::books::{conflict, entries};
use super::evidence::first_look;
use super::{External, Outcome, Sent, Ticket};
use crate::bounded::Nonce;
#[cfg(feature = "seeded_bugs")]
use crate::change::Act;
use crate::change::{Change, Snapshot, Step};
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::failure::Failure;
use crate::key::Key;
use crate::operation::transitions::Event;
use crate::operation::{self, Operation, State};
use crate::random;
#[cfg(feature = "seeded_bugs")]
use crate::seeded::{self, Bug};

/// The first wait before something that was not executed is sent again; doubled each time.
const BACKOFF: Duration = Duration::from_secs(5);
/// The longest such wait.
const LONGEST: Duration = Duration::from_secs(300);

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

    /// The same command under this nonce: for whoever has to run it again to the letter.
    #[must_use]
    pub fn under(self, nonce: Nonce) -> Self {
        Self { nonce, ..self }
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

    /// Whether this worker's word counts: the last one's always; an earlier one's only as evidence that it is there. Of
    /// what is accepted and being sent, the worker that sends it will hear.
    fn counts(&self, operation: &Operation<E>) -> bool {
        let holds = operation.state == State::Sending && operation.fence == self.ticket.operation.fence;
        #[cfg(feature = "seeded_bugs")]
        let holds = holds
            || (seeded::on(Bug::UnfencedOutcome) && operation.state == State::Sending)
            || (seeded::on(Bug::LateFailureReleases) && matches!(self.sent, Sent::Refused(_)));
        let there = match self.sent {
            Sent::Happened(_) => true,
            Sent::Accepted(_) => operation.state != State::Sending,
            Sent::Refused(_) | Sent::NotExecuted(_) | Sent::Unknown(_) => false,
        };
        holds || there
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

    /// It is there although the operation had ended without. Not so where its end is known to be that very effect's: the
    /// provider gives the first answer to a key again, whatever became of it since.
    fn contradicted(&self, operation: &Operation<E>, now: Timestamp) -> Decision<Outcome> {
        let change = match &self.sent {
            Sent::Happened(reference) | Sent::Accepted(reference)
                if operation.state.is_void() && operation.reference.as_ref() != Some(reference) =>
            {
                conflict(operation, "the provider has it although it had ended without", now, &self.nonce)
            }
            Sent::Happened(_) | Sent::Accepted(_) | Sent::Refused(_) | Sent::NotExecuted(_) | Sent::Unknown(_) => None,
        };
        match change {
            Some(change) => Decision::Commit(change, Outcome { state: operation.state, conflict: true }),
            None => Decision::Answer(Outcome::of(operation)),
        }
    }

    fn due(&self, operation: &Operation<E>, now: Timestamp) -> Timestamp {
        if !matches!(self.sent, Sent::NotExecuted(_)) {
            return first_look(now);
        }
        let doublings = u32::try_from(operation.attempts.saturating_sub(1)).unwrap_or(0).min(10);
        now + BACKOFF.saturating_mul(1 << doublings).min(LONGEST)
    }
}

impl<E: External> Command for Record<E> {
    type Answer = Outcome;

    fn keys(&self) -> Vec<Key> {
        vec![self.key()]
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<Outcome>, Failure> {
        let operation = seen.item(&self.key()).map(Operation::<E>::read).transpose()?.flatten();
        let operation = operation.ok_or_else(|| Failure::not_found("operation"))?;
        if operation.nonce == self.nonce || !self.counts(&operation) {
            return Ok(Decision::Answer(Outcome::of(&operation)));
        }
        let event = self.event();
        let Some((to, step)) = operation.moves(event, self.due(&operation, now), &self.nonce) else {
            return Ok(self.contradicted(&operation, now));
        };
        // Of what is unknown, the request may be on its way until the lease ends: absence is not proved before.
        let step = if to == State::Unknown { step } else { step.remove("lease_until") };
        #[cfg(feature = "seeded_bugs")]
        if seeded::on(Bug::DeletedOnError) && to == State::Failed {
            let mut steps = vec![Step { key: self.key(), guards: step.guards, act: Act::Delete }];
            steps.extend(entries(&operation, to));
            return Ok(Decision::Commit(Change(steps), to.into()));
        }
        let mut steps = vec![self.outcome(step)];
        steps.extend(entries(&operation, to));
        Ok(Decision::Commit(Change(steps), to.into()))
    }
}
