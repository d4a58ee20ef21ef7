//! The world: what a schedule changes, small enough to be copied and compared.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash};

use foldhash::quality::FixedState;

use crate::actor::Actor;
use crate::provider::Provider;

/// A record as the product's memory numbers it; 0 is none.
pub type Record = u32;
/// A key as the product's memory numbers it.
pub type KeyNo = u8;
/// The number of the hold's key.
pub const HOLD: KeyNo = 2;
/// The most records that a scenario has.
pub const RECORDS: usize = 16;

/// Both tables.
pub type Tables = [Record; RECORDS];

/// What is remembered by a number or a fingerprint.
pub type Memory<K, V> = HashMap<K, V, FixedState>;

/// A number that no two things share, as far as 64 bits can tell.
pub fn fingerprint(of: impl Hash) -> u64 {
    FixedState::default().hash_one(of)
}

/// Everything at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct World {
    pub tables: Tables,
    pub provider: Provider,
    /// Seconds since the story began.
    pub now: u32,
    pub actors: Vec<Actor>,
    /// How many faults may still happen.
    pub faults: u8,
    /// How often time may still pass.
    pub waits: u8,
}

/// What a rule says is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(pub String);

/// Breaks a rule.
pub fn broken<T>(rule: impl Into<String>) -> Result<T, Broken> {
    Err(Broken(rule.into()))
}
