//! Evidence: what a lookup proves about an operation, and what follows.
//!
//! That it is there is proved by seeing it. That it is not there is proved by two lookups, one lag apart, both after the
//! last request can still have been on its way; only then, and only while the provider still recognizes the key, is it
//! sent again. Whatever proves nothing is looked at again later, until nobody but a person can tell.

use std::marker::PhantomData;
use std::time::Duration;

use super::books::{conflict, entries};
use super::{External, Found, LEASE, Outcome, Target, Terms};
use crate::bounded::Nonce;
use crate::change::{Change, Snapshot, Step};
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::failure::Failure;
use crate::item::Corrupt;
use crate::key::Key;
use crate::operation::transitions::Event;
use crate::operation::{self, Operation, State};
use crate::random;
#[cfg(feature = "seeded_bugs")]
use crate::seeded::{self, Bug};

/// The first wait before the next lookup; doubled each time.
const SOON: Duration = Duration::from_secs(5);
/// The longest such wait.
const LONGEST: Duration = Duration::from_secs(600);
/// How often at most what was proved absent is sent again.
const RESENDS: i64 = 3;
/// How long the outcome of something unknown is looked for at a provider that promises no window.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long something accepted may take to become final.
const SETTLING: Duration = Duration::from_secs(45 * 24 * 60 * 60);

/// When evidence is first looked for: at once. What is there is found then; only absence takes time to be proved.
pub(super) const fn first_look(now: Timestamp) -> Timestamp {
    now
}

/// Whether a request that leaves now still arrives while the provider recognizes a repeat of the first one.
pub(super) fn recognized<E>(operation: &Operation<E>, terms: Terms, now: Timestamp) -> bool {
    match (operation.first_sent_at, terms.duplicate_window) {
        (Some(first), Some(window)) => now + LEASE < first + window,
        (Some(_), None) => false,
        (None, _) => true,
    }
}

/// The command that records what a lookup has shown, or what a provider's verified event says.
#[derive(Debug)]
pub struct Evidence<E> {
    target: Target,
    found: Found,
    looked_at: Timestamp,
    terms: Terms,
    nonce: Nonce,
    effect: PhantomData<fn() -> E>,
}

type Recorded = Result<Decision<Outcome>, Failure>;

impl<E: External> Evidence<E> {
    /// Records what was `found` by a lookup that was begun at `looked_at`, at a provider of these terms.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn new(target: Target, found: Found, looked_at: Timestamp, terms: Terms) -> Result<Self, Failure> {
        Ok(Self { target, found, looked_at, terms, nonce: random::nonce()?, effect: PhantomData })
    }

    /// The same command under this nonce: for whoever has to run it again to the letter.
    #[must_use]
    pub fn under(self, nonce: Nonce) -> Self {
        Self { nonce, ..self }
    }

    fn key(&self) -> Key {
        operation::key(&self.target.tenant, &self.target.operation)
    }

    /// It is there, final or not.
    fn there(&self, operation: &Operation<E>, event: Event, reference: &str, now: Timestamp) -> Recorded {
        let words = |step: Step| step.set("reference", reference).remove("reason");
        match operation.moves(event, first_look(now), &self.nonce) {
            Some((to, step)) => Ok(becomes(operation, to, words(step))),
            None if operation.state == State::Settling => Ok(self.later(operation, now, None)),
            None if known_undone(operation, reference) => Ok(Decision::Answer(Outcome::of(operation))),
            None if operation.state.is_void() => Ok(self.contradicts(operation, "the provider has it after all")),
            None => Ok(Decision::Answer(Outcome::of(operation))),
        }
    }

    /// It was there and is undone. Of what is being sent, its own worker will hear.
    fn undone(&self, operation: &Operation<E>, reference: &str, reason: &str, now: Timestamp) -> Recorded {
        let event = match operation.state {
            State::Succeeded => Event::CameBack,
            State::Queued | State::Settling | State::Unknown | State::NeedsOperator => Event::Refused,
            State::Sending | State::Returned | State::Failed | State::Cancelled | State::Expired => {
                return Ok(Decision::Answer(Outcome::of(operation)));
            }
        };
        Ok(match operation.moves(event, first_look(now), &self.nonce) {
            Some((to, step)) => becomes(operation, to, step.set("reference", reference).set("reason", reason)),
            None => Decision::Answer(Outcome::of(operation)),
        })
    }

    /// It is not there, this time.
    fn absent(&self, operation: &Operation<E>, now: Timestamp) -> Recorded {
        let Some(lag) = self.terms.lookup_lag.filter(|_| operation.state == State::Unknown) else {
            // What the provider has accepted does not become nothing because one list leaves it out.
            return Ok(self.later(operation, now, None));
        };
        let on_its_way_until = operation.lease_until.ok_or(Corrupt("lease_until"))?;
        if self.looked_at <= on_its_way_until {
            return Ok(self.later(operation, now, Some(on_its_way_until + Duration::from_secs(1))));
        }
        let first = operation.absent_since;
        #[cfg(feature = "seeded_bugs")]
        let first = if seeded::on(Bug::SingleAbsence) { Some(self.looked_at - lag) } else { first };
        let Some(first) = first else {
            let again = self.looked_at + lag;
            let step = operation.stays(&self.nonce).add("lookups", 1).set("due_at", again);
            return Ok(remains(operation, step.set("absent_since", self.looked_at)));
        };
        if self.looked_at < first + lag {
            return Ok(self.later(operation, now, Some(first + lag)));
        }
        if let Some(why) = self.not_again(operation, now) {
            return Ok(self.stuck(operation, why));
        }
        Ok(match operation.moves(Event::NotExecuted, now, &self.nonce) {
            Some((to, step)) => {
                let step = step.remove("lease_until").remove("absent_since").add("resends", 1).set("lookups", 0);
                becomes(operation, to, step.set("reason", "the provider was asked twice and does not have it"))
            }
            None => Decision::Answer(Outcome::of(operation)),
        })
    }

    /// Why it may not be sent again although it is certain that it was not executed.
    fn not_again(&self, operation: &Operation<E>, now: Timestamp) -> Option<&'static str> {
        if !recognized(operation, self.terms, now) {
            Some("it is not at the provider, which would no longer recognize a repeat")
        } else if operation.execute_until <= now {
            Some("it is not at the provider, and its time to be sent has run out")
        } else if operation.resends >= RESENDS {
            Some("it was sent again and again, and each time the provider does not have it")
        } else {
            None
        }
    }

    /// Nothing is proved: looked at again at that time, or a little later each time, while there is any hope.
    fn later(&self, operation: &Operation<E>, now: Timestamp, at: Option<Timestamp>) -> Decision<Outcome> {
        let patience = match operation.state {
            State::Settling => SETTLING,
            State::Unknown if self.terms.lookup_lag.is_none() => Duration::ZERO,
            State::Unknown => self.terms.duplicate_window.unwrap_or(PATIENCE),
            State::Queued
            | State::Sending
            | State::Succeeded
            | State::Returned
            | State::Failed
            | State::Cancelled
            | State::Expired
            | State::NeedsOperator => return Decision::Answer(Outcome::of(operation)),
        };
        if operation.first_sent_at.is_none_or(|first| first + patience <= now) {
            return self.stuck(operation, "the provider does not tell what became of it");
        }
        let doublings = u32::try_from(operation.lookups).unwrap_or(u32::MAX).min(10);
        let at = at.unwrap_or_else(|| now + SOON.saturating_mul(1 << doublings).min(LONGEST));
        remains(operation, operation.stays(&self.nonce).add("lookups", 1).set("due_at", at))
    }

    /// Only a person leads on.
    fn stuck(&self, operation: &Operation<E>, why: &str) -> Decision<Outcome> {
        match operation.moves(Event::Stuck, self.looked_at, &self.nonce) {
            Some((to, step)) => becomes(operation, to, step.set("reason", why)),
            None if operation.state.is_final() => self.contradicts(operation, why),
            None => Decision::Answer(Outcome::of(operation)),
        }
    }

    fn contradicts(&self, operation: &Operation<E>, why: &str) -> Decision<Outcome> {
        match conflict(operation, why, self.looked_at, &self.nonce) {
            Some(change) => Decision::Commit(change, Outcome { state: operation.state, conflict: true }),
            None => Decision::Answer(Outcome::of(operation)),
        }
    }
}

impl<E: External> Command for Evidence<E> {
    type Answer = Outcome;

    fn keys(&self) -> Vec<Key> {
        vec![self.key()]
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Recorded {
        let operation = seen.item(&self.key()).map(Operation::<E>::read).transpose()?.flatten();
        let operation = operation.ok_or_else(|| Failure::not_found("operation"))?;
        if operation.nonce == self.nonce {
            return Ok(Decision::Answer(Outcome::of(&operation)));
        }
        let recorded = match &self.found {
            Found::Happened(reference) => self.there(&operation, Event::Happened, reference, now)?,
            Found::Accepted(reference) => self.there(&operation, Event::Accepted, reference, now)?,
            Found::Undone { reference, reason } => self.undone(&operation, reference, reason, now)?,
            Found::Absent => self.absent(&operation, now)?,
            Found::Contradiction(why) => self.stuck(&operation, why),
            Found::Nothing(_) => self.later(&operation, now, None),
        };
        Ok(unwritten_since(&operation, recorded))
    }
}

/// Whether the provider itself has shown that this very effect came to nothing: it is not to come back to life, and
/// whoever saw it alive has looked before. A person who says so can be wrong.
fn known_undone<E>(operation: &Operation<E>, reference: &str) -> bool {
    let shown = operation.state == State::Failed && operation.resolution.is_none();
    shown && operation.reference.as_deref() == Some(reference)
}

/// The same, if nobody has written to the operation since it was seen, which may have been before the lookup.
fn unwritten_since<E>(operation: &Operation<E>, recorded: Decision<Outcome>) -> Decision<Outcome> {
    let Decision::Commit(Change(steps), outcome) = recorded else { return recorded };
    let key = operation::key(&operation.tenant, &operation.id);
    let guarded = |step: Step| if step.key == key { step.when_is("nonce", operation.nonce.as_str()) } else { step };
    Decision::Commit(Change(steps.into_iter().map(guarded).collect()), outcome)
}

fn becomes<E: External>(operation: &Operation<E>, to: State, step: Step) -> Decision<Outcome> {
    let mut steps = vec![step];
    steps.extend(entries(operation, to));
    Decision::Commit(Change(steps), to.into())
}

fn remains<E>(operation: &Operation<E>, step: Step) -> Decision<Outcome> {
    Decision::Commit(Change(vec![step]), Outcome::of(operation))
}
