//! Effects: all that a domain writes for a new command. The rest, and with it the safety, is the kernel's.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bounded::{Domain, OperationId, Tenant};
use crate::change::{Snapshot, Step};
use crate::clock::Timestamp;
use crate::digest::Fields;
use crate::failure::{Code, Failure};
use crate::item::Attr;
use crate::key::Key;

/// What a command does to the world, as it was persisted before anyone agreed to it.
pub trait Effect: Serialize + DeserializeOwned + Clone + PartialEq + Send + Sync + 'static {
    /// The command's name and words.
    const COMMAND: CommandName;

    /// Adds every field that a person agrees to.
    fn digest(&self, fields: &mut Fields);

    /// What a person reads before deciding: label and text, from persisted data alone.
    fn summary(&self) -> Vec<(&'static str, String)>;

    /// The record that the effect is about.
    fn subject(&self, tenant: &Tenant) -> Key;

    /// An earlier operation that whoever approves has to know of, and to say so: part of what is signed.
    fn acknowledge(&self) -> Option<&OperationId>;

    /// What the approver's authority has to cover.
    fn demand(&self) -> Demand;

    /// Looks at what was seen, on every decision. A record that was not loaded is no objection: the guards of
    /// [`Effect::reserve`] look at it, and what they find comes back here.
    ///
    /// # Errors
    /// When the effect may not happen (any more).
    fn check(&self, tenant: &Tenant, seen: &Snapshot) -> Result<(), Failure>;

    /// Looks, when a person approves and again when it is submitted, whether something has happened since the intent was
    /// prepared that the person would have had to know of: the records that must be seen for that, or none when all is
    /// as it was prepared.
    ///
    /// # Errors
    /// When something has; the intent is stale then.
    fn reconsider(&self, tenant: &Tenant, seen: &Snapshot, now: Timestamp) -> Result<Vec<Key>, Failure>;

    /// The domain's own steps of the change that accepts the command. Each is guarded by what was seen of its record,
    /// or, where that was not loaded, by what the intent pinned of it.
    fn reserve(&self, tenant: &Tenant, operation: &OperationId, seen: &Snapshot, now: Timestamp) -> Vec<Step>;
}

/// How a command is called, and by which words its failures lead on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandName {
    /// The business domain, which a hold can stop, such as `payouts`.
    pub domain: &'static str,
    /// The tool that has the effect, such as `submit_payout`.
    pub submit: &'static str,
    /// The tool that persists the intent.
    pub prepare: &'static str,
    /// The tool that tells how it went.
    pub status: &'static str,
    /// The version of the intent's fields; a new one is a new command.
    pub version: i64,
    /// What an intent of it is called.
    pub noun: Noun,
}

impl CommandName {
    /// The domain as a part of a key.
    ///
    /// # Errors
    /// When the constant is no domain name, which a test of the domain finds.
    pub fn domain(&self) -> Result<Domain, Failure> {
        Domain::parse(self.domain).map_err(Failure::internal)
    }
}

/// What a domain calls its intents, and the codes that follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noun {
    /// Something that another person approves.
    Proposal,
    /// Something that the requester confirms.
    Plan,
}

impl Noun {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proposal => "proposal",
            Self::Plan => "plan",
        }
    }

    /// What its ids begin with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Proposal => "prop_",
            Self::Plan => "plan_",
        }
    }

    /// The code of one that lapsed.
    #[must_use]
    pub const fn expired(self) -> Code {
        match self {
            Self::Proposal => Code::PROPOSAL_EXPIRED,
            Self::Plan => Code::PLAN_EXPIRED,
        }
    }

    /// The code of one whose subject has changed.
    #[must_use]
    pub const fn stale(self) -> Code {
        match self {
            Self::Proposal => Code::PROPOSAL_STALE,
            Self::Plan => Code::PLAN_STALE,
        }
    }

    /// The code of one that another key has used.
    #[must_use]
    pub const fn used(self) -> Code {
        match self {
            Self::Proposal => Code::PROPOSAL_ALREADY_SUBMITTED,
            Self::Plan => Code::PLAN_ALREADY_APPLIED,
        }
    }
}

/// How much authority an effect takes: an amount, against the limit in one attribute of the authority record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// Such as `limit_EUR`.
    pub limit: Attr,
    /// In the limit's unit.
    pub amount: i64,
}
