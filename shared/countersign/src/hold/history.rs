//! The history of a domain's holds: who held and released it, when and why, newest first.

use serde::{Deserialize, Serialize};

use super::CONTROL;
use super::switch::Turn;
use crate::bounded::Nonce;
use crate::change::Snapshot;
use crate::clock::Timestamp;
use crate::effect::CommandName;
use crate::failure::Failure;
use crate::key::Key;
use crate::ledger::Ledger;

/// How many of the latest switches are told.
const TOLD: usize = 20;

/// Whether a domain is held, and how it came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holds {
    /// Since when it is held, if it is.
    pub held_at: Option<Timestamp>,
    /// Why, as far as it was said.
    pub reason: Option<String>,
    /// The latest switches, newest first.
    pub switches: Vec<Switched>,
    /// Whether there are older ones, or were: a record that is gone hides those before it.
    pub truncated: bool,
}

/// One switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switched {
    /// Which way.
    pub turn: Turn,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    /// Of which tenant that person is.
    pub by_tenant: String,
    /// Why.
    pub reason: String,
}

/// Whether a command's domain is held, and its latest switches. What was written to the control record by hand is on no
/// other record.
///
/// # Errors
/// When the ledger does not answer, or a record is malformed.
pub async fn holds(ledger: &impl Ledger, command: CommandName) -> Result<Holds, Failure> {
    let key = super::key(command)?;
    let seen = load(ledger, &key).await?;
    let Some(control) = seen.item(&key) else {
        return Ok(Holds { held_at: None, reason: None, switches: Vec::new(), truncated: false });
    };
    let held_at = control.optional_moment("held_at")?;
    let mut last = control.parse_optional("last", Nonce::parse)?;
    let mut switches = Vec::new();
    while let Some(nonce) = last.take_if(|_| switches.len() < TOLD) {
        let key = CONTROL.shared_key(&[&command.domain()?, &nonce]);
        let seen = load(ledger, &key).await?;
        let Some(item) = seen.item(&key) else {
            last = Some(nonce);
            break;
        };
        switches.push(Switched {
            turn: item.parse("turn", Turn::parse)?,
            at: item.moment("at")?,
            by: item.text("by")?.to_owned(),
            by_tenant: item.text("by_tenant")?.to_owned(),
            reason: item.text("reason")?.to_owned(),
        });
        last = item.parse_optional("previous", Nonce::parse)?;
    }
    let reason = control.optional_text("reason")?.filter(|_| held_at.is_some()).map(str::to_owned);
    Ok(Holds { held_at, reason, switches, truncated: last.is_some() })
}

async fn load(ledger: &impl Ledger, key: &Key) -> Result<Snapshot, Failure> {
    ledger.load(std::slice::from_ref(key)).await
}
