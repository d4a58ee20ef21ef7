//! Consents: a person's signed statement about exactly one intent. No agent, tool or worker can make one.
//!
//! An *approval* comes from somebody else who has the authority; a *rejection* ends the intent. The statement's
//! signature is what counts; the record's other attributes repeat it so that a condition can look at them.

mod authority;
mod decide;
mod outlook;
mod owners;
mod revoke;

use serde::{Deserialize, Serialize};

pub use authority::Authority;
pub use decide::{Approver, Choice, Decide, Decided, Desk, Review};
pub use outlook::Outlook;
pub use owners::Owners;
pub use revoke::Revoke;

use crate::bounded::{IntentId, Issuer, OperationId, Principal, Tenant};
use crate::change::{Guard, Seen, Step};
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::effect::{CommandName, Effect};
use crate::failure::{Code, Failure, Retry};
use crate::intent::Intent;
use crate::item::{Corrupt, Item};
use crate::key::{Key, Kind};
use crate::keys::{KeyError, KeySet, Signer};

const CONSENT: Kind = Kind::consents("consent");
const TYP: &str = "countersign-consent+jwt";

crate::choice! {
    /// What a person decided.
    pub enum Verdict {
        /// It may happen, once.
        Approval = "approval",
        /// It may not.
        Rejection = "rejection",
    }
}

/// What a person signs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// What was decided.
    pub kind: Verdict,
    /// Whose intent it is.
    pub tenant: Tenant,
    /// Which intent.
    pub intent_id: IntentId,
    /// The digest that the person was shown.
    pub digest: String,
    /// Who decided.
    pub approver: Principal,
    /// Who vouches for them: the requester's own issuer, or names could not be compared.
    pub issuer: Issuer,
    /// When, in seconds since 1970.
    pub decided_at: i64,
    /// From when on it no longer counts, in seconds since 1970.
    pub expires_at: i64,
    /// The earlier operation that the approver says they know of, where the effect asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<OperationId>,
}

/// A statement with its signature, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    statement: Statement,
    /// The statement as a compact JWS.
    token: String,
    revoked: bool,
}

/// Where the decision about an intent lies. There is room for one.
#[must_use]
pub fn key(tenant: &Tenant, intent: &IntentId) -> Key {
    CONSENT.key(tenant, &[intent])
}

impl Consent {
    /// Reads a record and verifies its signature.
    ///
    /// # Errors
    /// When the record is malformed, not signed by a known key, or says something else than what was signed.
    pub fn read(item: &Item, keys: &KeySet) -> Result<Self, Forged> {
        let token = item.text("statement")?.to_owned();
        let statement: Statement = keys.verify(TYP, &token)?;
        let repeated = item.text("kind")? == statement.kind.as_str()
            && item.text("approver")? == statement.approver.as_str()
            && item.integer("expires_at")? == statement.expires_at;
        if !repeated {
            return Err(Forged);
        }
        Ok(Self { statement, token, revoked: item.get("revoked_at").is_some() })
    }

    /// What was signed.
    #[must_use]
    pub const fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Whether it was taken back.
    #[must_use]
    pub const fn is_revoked(&self) -> bool {
        self.revoked
    }

    /// Who decided.
    #[must_use]
    pub const fn approver(&self) -> &Principal {
        &self.statement.approver
    }

    /// The statement with its signature, which pins this very decision.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Whether it permits exactly this intent to be submitted now.
    ///
    /// # Errors
    /// `approval_mismatch`, `approval_rejected`, `approval_revoked` or `approval_expired`.
    pub fn permits<E: Effect>(&self, intent: &Intent<E>, now: Timestamp) -> Result<(), Failure> {
        self.stands_for(intent)?;
        if self.statement.expires_at <= now.seconds() {
            return Err(expired::<E>());
        }
        Ok(())
    }

    /// Whether it is an approval of exactly this intent that nobody took back, lapsed or not: what was submitted in time
    /// may be sent after.
    ///
    /// # Errors
    /// `approval_mismatch`, `approval_rejected` or `approval_revoked`.
    pub fn stands_for<E: Effect>(&self, intent: &Intent<E>) -> Result<(), Failure> {
        let said = &self.statement;
        let exact = said.tenant == intent.tenant
            && said.intent_id == intent.id
            && said.digest == intent.digest.to_string()
            && said.issuer == intent.requester.issuer
            && !intent.requester.goes_by(said.approver.as_str());
        if !exact {
            return Err(mismatch::<E>());
        }
        if said.kind == Verdict::Rejection {
            return Err(rejected::<E>());
        }
        if said.acknowledged.as_ref() != intent.effect.acknowledge() {
            return Err(mismatch::<E>());
        }
        if self.revoked {
            return Err(revoked::<E>());
        }
        Ok(())
    }

    /// The step that holds the consent as it was read: the same signature, not revoked, not lapsed.
    pub(crate) fn guard(&self, now: Timestamp) -> Step {
        unrevoked(&self.statement.tenant, &self.statement.intent_id, &self.token).when(Guard::After("expires_at", now))
    }
}

/// The step that holds a consent to its signature and its not being revoked, whether or not it has lapsed since.
pub(crate) fn unrevoked(tenant: &Tenant, intent: &IntentId, token: &str) -> Step {
    Step::check(key(tenant, intent)).when_is("statement", token).when(Guard::Lacks("revoked_at"))
}

/// A record in the consents table that no person signed as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the consent record is not what a person signed")]
pub struct Forged;

impl From<Corrupt> for Forged {
    fn from(_: Corrupt) -> Self {
        Self
    }
}
impl From<KeyError> for Forged {
    fn from(_: KeyError) -> Self {
        Self
    }
}

/// What a record in the consents table looks like, its signature unverified: enough to say *no*, never to say yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Undecided,
    Approved,
    Ended,
}

impl Standing {
    pub(crate) fn of(seen: Seen<'_>) -> Self {
        match seen.item() {
            None => Self::Undecided,
            Some(item) if item.get("revoked_at").is_some() => Self::Ended,
            Some(item) if item.text("kind") == Ok(Verdict::Rejection.as_str()) => Self::Ended,
            Some(_) => Self::Approved,
        }
    }

    pub(crate) const fn may_still_be_used(self) -> bool {
        matches!(self, Self::Undecided | Self::Approved)
    }
}

impl Statement {
    fn sign(&self, signer: &Signer) -> Result<Item, KeyError> {
        let token = signer.sign(TYP, self)?;
        Ok(Item::new()
            .with("statement", token)
            .with("kind", self.kind.as_str())
            .with("intent_id", self.intent_id.as_str())
            .with("digest", self.digest.as_str())
            .with("approver", self.approver.as_str())
            .with("decided_at", self.decided_at)
            .with("expires_at", self.expires_at))
    }

    fn about(&self, digest: &Digest) -> bool {
        self.digest == digest.to_string()
    }
}

/// Nobody has decided yet.
pub(crate) fn required<E: Effect>() -> Failure {
    let CommandName { submit, prepare, noun, .. } = E::COMMAND;
    let noun = noun.as_str();
    Failure::new(
        Code::APPROVAL_REQUIRED,
        Retry::Later,
        format!("no person has approved this {noun} yet"),
        format!(
            "ask a person who may approve to look at the {noun}, then call {submit} again with the same key; if it can no \
             longer be approved, call {prepare} again"
        ),
    )
}

/// What was found is no consent to exactly this intent.
pub(crate) fn mismatch<E: Effect>() -> Failure {
    let noun = E::COMMAND.noun.as_str();
    Failure::new(
        Code::APPROVAL_MISMATCH,
        Retry::Never,
        format!("the recorded approval is not one of exactly this {noun} by a person who may approve it"),
        "ask the platform team to look at the consent record; do not submit again",
    )
}

/// The approval, or the approver's authority, is gone.
pub(crate) fn revoked<E: Effect>() -> Failure {
    again::<E>(Code::APPROVAL_REVOKED, "the approval was withdrawn, or its approver may no longer approve this")
}

fn rejected<E: Effect>() -> Failure {
    let noun = E::COMMAND.noun.as_str();
    Failure::new(
        Code::APPROVAL_REJECTED,
        Retry::Never,
        format!("a person rejected this {noun}"),
        "tell the requester; do not prepare the same again without their word",
    )
}

fn expired<E: Effect>() -> Failure {
    let noun = E::COMMAND.noun.as_str();
    Failure::new(
        Code::APPROVAL_EXPIRED,
        Retry::Later,
        "the approval lapsed before it was used",
        format!("ask a person to approve the {noun} again, then submit with the same key"),
    )
}

fn again<E: Effect>(code: Code, message: &str) -> Failure {
    Failure::new(code, Retry::Never, message, format!("call {} again and ask for a new approval", E::COMMAND.prepare))
}
