//! Holds: an operator stops one business domain. Nothing is accepted or sent until the hold is released.
//!
//! Each hold and each release stays on record, with who and why: the control record names the last of them, and each of
//! them the one before.

mod history;
mod switch;

use crate::change::{Guard, Snapshot, Step};
use crate::effect::CommandName;
use crate::failure::{Code, Failure, Retry};
use crate::key::{Key, Kind};

pub use history::{Holds, Switched, holds};
pub use switch::{Switch, Turn};

const CONTROL: Kind = Kind::ledger("control");

/// Where a domain's hold lies: `control#` and the domain, for all tenants.
///
/// # Errors
/// When the domain's name is none, which its tests find.
pub fn key(command: CommandName) -> Result<Key, Failure> {
    Ok(CONTROL.shared_key(&[&command.domain()?]))
}

/// Refuses while the domain is held.
///
/// # Errors
/// `held`.
pub fn check(command: CommandName, seen: &Snapshot) -> Result<(), Failure> {
    match seen.item(&key(command)?) {
        Some(item) if item.get("held_at").is_some() => Err(Failure::new(
            Code::HELD,
            Retry::Later,
            format!("an operator has stopped all {}", command.domain),
            "ask the operations team when it will be released; the same call with the same key will work then",
        )),
        Some(_) | None => Ok(()),
    }
}

/// The step that holds a change to there being no hold.
///
/// # Errors
/// When the domain's name is none, which its tests find.
pub fn guard(command: CommandName) -> Result<Step, Failure> {
    Ok(Step::check(key(command)?).when(Guard::Lacks("held_at")))
}
