//! Intents: what a preview persisted. Bound to its requester, pinned to the terms it saw, sealed by a digest, lapsing,
//! used once and never released. A proposal and a plan are both intents.

mod prepare;

use std::time::Duration;

pub use prepare::{Draft, Drafted, Prepare, Prepared};

use crate::bounded::{Actor, Client, IntentId, Issuer, OperationId, Principal, Tenant};
use crate::caller::Caller;
use crate::change::{Guard, Step};
use crate::clock::Timestamp;
use crate::digest::{Digest, Fields};
use crate::effect::Effect;
use crate::failure::Failure;
use crate::item::{Corrupt, Item};
use crate::key::{Key, Kind};
use crate::random;
#[cfg(feature = "seeded_bugs")]
use crate::seeded::{self, Bug};

const INTENT: Kind = Kind::ledger("intent");
/// The version of the fields that every intent has.
const SCHEMA: i64 = 1;
/// How long a used or lapsed intent is kept: operations are kept for thirteen months, an intent no shorter.
pub(crate) const KEPT: Duration = Duration::from_secs(400 * 24 * 60 * 60);

/// Who asked, and through what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requester {
    /// Who vouches for the principal.
    pub issuer: Issuer,
    /// The human for whom the agent asked.
    pub principal: Principal,
    /// The agent.
    pub actor: Option<Actor>,
    /// The OAuth client.
    pub client: Option<Client>,
}

impl Requester {
    /// The caller as a requester.
    #[must_use]
    pub fn of(by: &Caller) -> Self {
        let Caller { tenant: _, issuer, principal, actor, client, roles: _ } = by.clone();
        Self { issuer, principal, actor, client }
    }

    /// Whether the caller is the human who asked, through whichever agent.
    #[must_use]
    pub fn is(&self, by: &Caller) -> bool {
        self.issuer == by.issuer && self.principal == by.principal
    }

    /// Whether this name is one under which the request was made; such a person can approve nothing of it. A name in
    /// other letter case is the same, since an issuer may spell one person's in two ways.
    #[must_use]
    pub fn goes_by(&self, name: &str) -> bool {
        let actor = self.actor.as_ref().is_some_and(|actor| actor.as_str().eq_ignore_ascii_case(name));
        let client = self.client.as_ref().is_some_and(|client| client.as_str().eq_ignore_ascii_case(name));
        self.principal.as_str().eq_ignore_ascii_case(name) || actor || client
    }

    pub(crate) fn write(&self, item: Item) -> Item {
        item.with("issuer", self.issuer.as_str())
            .with("principal", self.principal.as_str())
            .with_optional("actor", self.actor.as_ref().map(Actor::as_str))
            .with_optional("client", self.client.as_ref().map(Client::as_str))
    }

    pub(crate) fn read(item: &Item) -> Result<Self, Corrupt> {
        Ok(Self {
            issuer: item.parse("issuer", Issuer::parse)?,
            principal: item.parse("principal", Principal::parse)?,
            actor: item.parse_optional("actor", Actor::parse)?,
            client: item.parse_optional("client", Client::parse)?,
        })
    }
}

/// One intent with its effect.
// INVARIANT: `digest` is the digest of all other fields but `consumed_by`; `read` refuses a record where it is not.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent<E> {
    /// Its id.
    pub id: IntentId,
    /// Whose it is.
    pub tenant: Tenant,
    /// Who asked.
    pub requester: Requester,
    /// What would happen.
    pub effect: E,
    /// When it was prepared.
    pub created_at: Timestamp,
    /// From when on it can no longer be used.
    pub expires_at: Timestamp,
    /// What a person agrees to.
    pub digest: Digest,
    /// The operation that used it.
    pub consumed_by: Option<OperationId>,
}

/// The index partition of a tenant's intents of one command that nobody has used.
#[must_use]
pub fn pending<E: Effect>(tenant: &Tenant) -> String {
    format!("{}#{tenant}", E::COMMAND.submit)
}

impl<E: Effect> Intent<E> {
    /// A new intent of the caller's.
    #[must_use]
    pub fn new(id: IntentId, by: &Caller, effect: E, now: Timestamp, lifetime: Duration) -> Self {
        let mut intent = Self {
            id,
            tenant: by.tenant.clone(),
            requester: Requester::of(by),
            effect,
            created_at: now,
            expires_at: now + lifetime,
            digest: Digest::of_bytes(&[]),
            consumed_by: None,
        };
        intent.digest = intent.sealed();
        intent
    }

    /// A new id that nobody can guess.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn new_id() -> Result<IntentId, Failure> {
        IntentId::parse(&format!("{}{}", E::COMMAND.noun.prefix(), random::tag()?)).map_err(Failure::internal)
    }

    /// Where an intent lies.
    #[must_use]
    pub fn key(tenant: &Tenant, id: &IntentId) -> Key {
        INTENT.key(tenant, &[id])
    }

    /// Whether it can no longer be used.
    #[must_use]
    pub fn expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }

    /// The step that persists it.
    pub(crate) fn create(&self) -> Result<Step, Failure> {
        let effect = serde_json::to_string(&self.effect).map_err(Failure::internal)?;
        let item = Item::new()
            .with("intent_id", self.id.as_str())
            .with("tenant", self.tenant.as_str())
            .with("command", E::COMMAND.submit)
            .with("version", E::COMMAND.version)
            .with("schema", SCHEMA)
            .with("effect", effect)
            .with("created_at", self.created_at)
            .with("expires_at", self.expires_at)
            .with("digest", self.digest.to_string())
            .with("pending", pending::<E>(&self.tenant))
            .with("expires", self.expires_at + KEPT);
        Ok(Step::create(Self::key(&self.tenant, &self.id), self.requester.write(item)))
    }

    /// The step that uses it up: once, unchanged, in time.
    pub(crate) fn consume(&self, operation: &OperationId, now: Timestamp) -> Step {
        Step::update(Self::key(&self.tenant, &self.id))
            .when(Guard::Lacks("consumed_by"))
            .when_is("digest", self.digest.to_string())
            .when(Guard::After("expires_at", now))
            .set("consumed_by", operation.as_str())
            .remove("pending")
    }

    /// Reads an intent of this command; `None` where the record is of another one.
    ///
    /// # Errors
    /// When the record is malformed or not what its digest says.
    pub fn read(item: &Item) -> Result<Option<Self>, Failure> {
        let ours = item.text("command")? == E::COMMAND.submit && item.integer("version")? == E::COMMAND.version;
        if !ours {
            return Ok(None);
        }
        let intent = Self {
            id: item.parse("intent_id", IntentId::parse)?,
            tenant: item.parse("tenant", Tenant::parse)?,
            requester: Requester::read(item)?,
            effect: serde_json::from_str(item.text("effect")?).map_err(|_| Corrupt("effect"))?,
            created_at: item.moment("created_at")?,
            expires_at: item.moment("expires_at")?,
            digest: item.parse("digest", Digest::parse)?,
            consumed_by: item.parse_optional("consumed_by", OperationId::parse)?,
        };
        if intent.digest == intent.sealed() { Ok(Some(intent)) } else { Err(Corrupt("digest").into()) }
    }

    #[cfg(not(feature = "seeded_bugs"))]
    fn sealed_id(&self) -> &str {
        self.id.as_str()
    }

    #[cfg(feature = "seeded_bugs")]
    fn sealed_id(&self) -> &str {
        if seeded::on(Bug::DigestWithoutId) { "" } else { self.id.as_str() }
    }

    fn sealed(&self) -> Digest {
        let command = E::COMMAND;
        let Requester { issuer, principal, actor, client } = &self.requester;
        let mut fields = Fields::new("countersign.intent");
        fields
            .integer("schema", SCHEMA)
            .text("domain", command.domain)
            .text("command", command.submit)
            .integer("version", command.version)
            .text("intent_id", self.sealed_id())
            .text("tenant", self.tenant.as_str())
            .text("issuer", issuer.as_str())
            .text("principal", principal.as_str())
            .optional("actor", actor.as_ref().map(Actor::as_str))
            .optional("client", client.as_ref().map(Client::as_str))
            .integer("created_at", self.created_at.seconds())
            .integer("expires_at", self.expires_at.seconds());
        self.effect.digest(&mut fields);
        fields.digest()
    }
}
