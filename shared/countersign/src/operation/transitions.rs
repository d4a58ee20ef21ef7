//! The states of an external effect and the arrows between them. No other place knows this picture.
//!
//! ```text
//! queued ─► sending ─► succeeded ─► returned            queued (attempts = 0) ─► cancelled | expired
//!   ▲         ├─► failed                                queued ─► succeeded | settling | needs_operator, (attempts > 0) failed
//!   ├─────────┤ definitely not executed                 settling ─► succeeded | failed | needs_operator
//!   │         ├─► settling                              unknown ─► succeeded | failed | settling | needs_operator
//!   │         └─► unknown ─┐                            needs_operator ─► succeeded | failed
//!   └── absence proved ────┘                            failed | cancelled | expired, in conflict ─► succeeded (a person)
//! ```
//!
//! What is found at the provider is evidence even of what was never sent from here: a ledger restored from a backup has
//! forgotten.

crate::choice! {
    /// Where an operation stands.
    pub enum State {
        /// Accepted; nothing was sent.
        Queued = "queued",
        /// A worker is sending it, or was when it died.
        Sending = "sending",
        /// The provider accepted it and has not finished.
        Settling = "settling",
        /// It was sent, and whether it happened is not known. Only evidence leads on.
        Unknown = "unknown",
        /// It happened.
        Succeeded = "succeeded",
        /// It happened and came back.
        Returned = "returned",
        /// The provider refused; nothing happened.
        Failed = "failed",
        /// Stopped before it was sent.
        Cancelled = "cancelled",
        /// Its time ran out before it was sent.
        Expired = "expired",
        /// Evidence cannot be had by machine; a person decides.
        NeedsOperator = "needs_operator",
    }
}

crate::choice! {
    /// Who has to do something next. Each sweeps partitions of its own, so that what waits for one of them keeps nothing
    /// from the other.
    pub enum Worker {
        /// Whoever sends.
        Dispatch = "dispatch",
        /// Whoever looks for evidence.
        Reconcile = "reconcile",
    }
}

/// What can happen to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A worker takes it, to send it.
    Claimed,
    /// Proof that it happened.
    Happened,
    /// Proof that it was refused.
    Refused,
    /// The provider has accepted it and not finished.
    Accepted,
    /// Proof that it was not executed: it may be sent again.
    NotExecuted,
    /// Nobody knows.
    Lost,
    /// It was stopped before it was sent.
    Stopped,
    /// Its time ran out.
    Lapsed,
    /// The money came back.
    CameBack,
    /// Nothing but a person's decision leads on.
    Stuck,
    /// A person has booked what happened although it had ended without.
    Booked,
}

/// Where the arrow of `event` leads from `state`, after so many `attempts`; `None` where there is no such arrow.
#[must_use]
pub const fn next(state: State, event: Event, attempts: i64) -> Option<State> {
    let untouched = attempts == 0;
    Some(match (state, event) {
        (State::Queued, Event::Claimed) => State::Sending,
        (State::Queued, Event::Stopped) if untouched => State::Cancelled,
        (State::Queued, Event::Lapsed) if untouched => State::Expired,
        // What was begun to be sent is never called off: somebody has to look whether it happened.
        (State::Queued, Event::Stopped | Event::Lapsed) => State::NeedsOperator,
        (State::Queued, Event::Happened) => State::Succeeded,
        (State::Queued, Event::Accepted) => State::Settling,
        (State::Queued, Event::Refused) if !untouched => State::Failed,
        (State::Queued, Event::Stuck) => State::NeedsOperator,
        (State::Sending | State::Unknown, Event::NotExecuted) => State::Queued,
        (State::Sending, Event::Lost) => State::Unknown,
        (State::Sending | State::Unknown, Event::Accepted) => State::Settling,
        (State::Sending | State::Settling | State::Unknown | State::NeedsOperator, Event::Happened) => State::Succeeded,
        (State::Sending | State::Settling | State::Unknown | State::NeedsOperator, Event::Refused) => State::Failed,
        (State::Settling | State::Unknown, Event::Stuck) => State::NeedsOperator,
        (State::Succeeded, Event::CameBack) => State::Returned,
        // Only of an operation in conflict: see `Resolve`.
        (State::Failed | State::Cancelled | State::Expired, Event::Booked) => State::Succeeded,
        _ => return None,
    })
}

impl State {
    /// Whether no worker and no sweeper has anything left to do. Money may still come back, or turn out to have moved.
    #[must_use]
    pub const fn is_final(self) -> bool {
        match self {
            Self::Succeeded | Self::Returned | Self::Failed | Self::Cancelled | Self::Expired => true,
            Self::Queued | Self::Sending | Self::Settling | Self::Unknown | Self::NeedsOperator => false,
        }
    }

    /// Which worker has to do something next; none where it is final or a person's to decide.
    #[must_use]
    pub const fn worker(self) -> Option<Worker> {
        match self {
            Self::Queued | Self::Sending => Some(Worker::Dispatch),
            Self::Settling | Self::Unknown => Some(Worker::Reconcile),
            Self::NeedsOperator | Self::Succeeded | Self::Returned | Self::Failed | Self::Cancelled | Self::Expired => {
                None
            }
        }
    }

    /// Whether nothing happened and nothing will.
    #[must_use]
    pub const fn is_void(self) -> bool {
        matches!(self, Self::Failed | Self::Cancelled | Self::Expired)
    }

    /// What the state means for the caller, and what must not be done about it.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Queued => "accepted and waiting to be sent; look again later, do not submit anything again",
            Self::Sending => "being sent now; look again later, do not submit anything again",
            Self::Settling => "the provider accepted it and has not finished; look again later",
            Self::Unknown => {
                "it was sent and whether it happened is not known yet; the provider is being asked; look again later; do not \
                prepare or submit it again"
            }
            Self::Succeeded => "done; nothing is left to do",
            Self::Returned => "it was done and came back; tell the requester",
            Self::Failed => "the provider refused it and nothing happened; tell the requester why",
            Self::Cancelled => "it was stopped before it was sent; nothing happened",
            Self::Expired => "it was not sent in time; nothing happened; prepare it again if it is still wanted",
            Self::NeedsOperator => {
                "an operator has to find out what happened; tell the requester; do not prepare or submit it again"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [Event; 11] = [
        Event::Claimed,
        Event::Happened,
        Event::Refused,
        Event::Accepted,
        Event::NotExecuted,
        Event::Lost,
        Event::Stopped,
        Event::Lapsed,
        Event::CameBack,
        Event::Stuck,
        Event::Booked,
    ];

    #[test]
    fn a_final_state_is_left_by_nothing_but_money_that_comes_back_and_a_person_who_books_a_conflict() {
        for state in State::ALL.iter().filter(|state| state.is_final()) {
            for event in EVENTS {
                let came_back = *state == State::Succeeded && event == Event::CameBack;
                let allowed = came_back || (state.is_void() && event == Event::Booked);
                assert_eq!(next(*state, event, 1).is_some(), allowed, "{state} {event:?}");
            }
        }
    }

    #[test]
    fn what_was_begun_to_be_sent_is_never_cancelled_or_expired() {
        for state in State::ALL {
            for event in EVENTS {
                assert!(
                    !matches!(next(*state, event, 1), Some(State::Cancelled | State::Expired)),
                    "{state} {event:?}"
                );
            }
        }
    }

    #[test]
    fn unknown_and_settling_are_never_sent_again_without_evidence() {
        for state in [State::Unknown, State::Settling, State::Sending] {
            assert_eq!(next(state, Event::Claimed, 1), None, "{state}");
        }
    }
}
