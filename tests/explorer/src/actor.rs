//! Actors: who does something, and how far they are.

use crate::product::Order;
use crate::world::{KeyNo, Record};

/// What a command was shown.
pub type Seen = Vec<(KeyNo, Record)>;

/// Who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Submits an intent under a key.
    Agent { intent: u8, key: u8 },
    /// Approves an intent.
    Approver { intent: u8 },
    /// Takes the approval of an intent back.
    Revoker { intent: u8 },
    /// Claims an operation, sends it, records what came of it.
    Dispatcher { operation: u8 },
    /// Looks up what became of an operation, on a schedule or because an event hinted at it.
    Looker { operation: u8 },
    /// Its requester cancels an operation.
    Canceller { operation: u8 },
    /// A person ends what waits for one, by what the provider's books say.
    Operator { operation: u8 },
    /// Sets a hold, then releases it.
    Holder,
    /// Moves the order's terms.
    Terms,
    /// Takes the approver's authority away.
    Chief,
}

/// How far an actor is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum At {
    /// Not doing anything; may begin while there are runs left.
    Rest,
    /// Executing a command: `missing` has to be loaded before it decides (again).
    Executing {
        order: Order,
        seen: Seen,
        missing: Vec<KeyNo>,
        /// How often the decision wanted to see more.
        needs: u8,
        /// Whether the operation of its key was there when it began.
        claimed: bool,
        /// Whether a write of this very command was applied.
        wrote: bool,
    },
    /// Holds the right to send, and has not sent.
    Ticket(u32),
    /// Has decided to look and has not looked; how it has seen the operation.
    Looking { since: u32, record: Record },
}

/// An actor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Actor {
    pub role: Role,
    /// How often it may still begin.
    pub runs: u8,
    /// How many commands it has begun: each has a nonce of its own.
    pub begun: u8,
    pub at: At,
}

impl Actor {
    pub fn new(role: Role, runs: u8) -> Self {
        Self { role, runs, begun: 0, at: At::Rest }
    }

    /// Which operation's request it has under way, or is about to send or record.
    pub fn sends(&self) -> Option<u8> {
        match (self.role, &self.at) {
            (Role::Dispatcher { operation }, At::Ticket(_)) => Some(operation),
            (Role::Dispatcher { operation }, At::Executing { order, .. }) if order.records() => Some(operation),
            _ => None,
        }
    }
}
