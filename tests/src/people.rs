//! People and agents that no other test knows, and what they do, at whatever time it is for them.

use std::time::Duration;

use countersign::bounded::{AmountMinor, Currency, IntentId, Principal, Remark, Tenant};
use countersign::caller::Caller;
use countersign::change::Snapshot;
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::consent::{self, Approver, Authority, Choice, Consent, Decide, Decided, Verdict};
use countersign::digest::{Digest, Fields};
use countersign::effect::Effect as _;
use countersign::failure::Failure;
use countersign::hold::{Switch, Turn};
use countersign::intent::{Draft, Drafted, Intent, Prepare};
use countersign::item::{Attr, Item};
use countersign::key::Key;
use local::gateway::ISSUER;
use refunds::{Order, Reason, Refund, RefundDraft};
use serde_json::json;

use crate::{App, unique};

/// So many minutes ago.
pub fn minutes_ago(minutes: u64) -> Timestamp {
    Timestamp::now() - std::time::Duration::from_secs(minutes * 60)
}

/// An authority record with one limit for all currencies.
pub fn authority(limit: i64) -> Item {
    let limits: Vec<(Attr, i64)> = Currency::ALL.iter().map(|currency| (currency.limit_attribute(), limit)).collect();
    Authority::record(&limits)
}

/// The record of a hold, as an administrator may write it by hand.
pub fn hold(why: &str) -> Item {
    Item::new().with("held_at", Timestamp::now()).with("reason", why)
}

/// Where a proposal lies.
pub fn proposal_key(tenant: &str, proposal: &str) -> Key {
    Intent::<Refund>::key(&Tenant::parse(tenant).unwrap(), &IntentId::parse(proposal).unwrap())
}

/// Where the decision about a proposal lies.
pub fn consent_key(tenant: &str, proposal: &str) -> Key {
    consent::key(&Tenant::parse(tenant).unwrap(), &IntentId::parse(proposal).unwrap())
}

/// Where a person's authority lies.
pub fn authority_key(tenant: &str, principal: &str) -> Key {
    Authority::key(&Tenant::parse(tenant).unwrap(), &Principal::parse(principal).unwrap())
}

/// A draft that looks at nothing.
struct Unchecked(Refund);

impl Draft for Unchecked {
    type Effect = Refund;
    const LIFETIME: Duration = RefundDraft::LIFETIME;

    fn arguments(&self, fields: &mut Fields) {
        self.0.digest(fields);
    }

    fn keys(&self, _: &Tenant) -> Vec<Key> {
        Vec::new()
    }

    fn draft(&self, _: &Tenant, _: &Snapshot, _: Timestamp) -> Result<Drafted<Refund>, Failure> {
        Ok(Drafted::Effect(self.0.clone()))
    }
}

impl App {
    /// A new requester of a tenant's, with an agent and a client of their own.
    pub fn requester(&self, tenant: &str) -> Caller {
        let n = unique();
        let caller = json!({
            "tenant": tenant, "issuer": ISSUER, "principal": format!("clerk-{n}"),
            "actor": format!("agent-{n}"), "client": format!("app-{n}"), "roles": ["requester"],
        });
        serde_json::from_value(caller).unwrap()
    }

    /// A person with the approver role under this name, without any authority.
    pub fn person(&self, tenant: &str, principal: &str) -> Approver {
        let caller = json!({
            "tenant": tenant, "issuer": ISSUER, "principal": principal, "roles": ["approver"],
        });
        Approver(serde_json::from_value(caller).unwrap())
    }

    /// A new approver of a tenant's with this limit.
    pub async fn approver(&self, tenant: &str, limit: i64) -> Approver {
        let person = self.person(tenant, &format!("approver-{}", unique()));
        self.put(&authority_key(tenant, person.0.principal.as_str()), authority(limit)).await;
        person
    }

    /// The proposal as it is persisted.
    pub async fn proposal(&self, tenant: &str, proposal: &str) -> Intent<Refund> {
        let item = self.item(&proposal_key(tenant, proposal)).await.unwrap();
        Intent::read(&item).unwrap().unwrap()
    }

    /// Decides about a proposal of the person's tenant as it stands.
    pub async fn decide_as(&self, by: &Approver, proposal: &str, verdict: Verdict) -> Result<Decided, Failure> {
        self.decide_at(by, proposal, verdict, Timestamp::now()).await
    }

    /// The same at another time.
    pub async fn decide_at(
        &self,
        by: &Approver,
        proposal: &str,
        verdict: Verdict,
        now: Timestamp,
    ) -> Result<Decided, Failure> {
        let shown = self.proposal(by.0.tenant.as_str(), proposal).await.digest;
        self.decide_shown(by, proposal, shown, verdict, now).await
    }

    /// The same by someone who was shown this digest.
    pub async fn decide_shown(
        &self,
        by: &Approver,
        proposal: &str,
        shown: Digest,
        verdict: Verdict,
        now: Timestamp,
    ) -> Result<Decided, Failure> {
        // Whatever the proposal asks for is ticked.
        let found = self.item(&proposal_key(by.0.tenant.as_str(), proposal)).await;
        let found = found.and_then(|item| Intent::<Refund>::read(&item).unwrap());
        let acknowledged = found.and_then(|intent| intent.effect.similar_operation_id);
        let choice = Choice { intent: IntentId::parse(proposal).unwrap(), shown, verdict, acknowledged };
        let decide = Decide::<Refund>::new(by, choice, self.gateway.approvals().desk())?;
        execute(self.gateway.ledger(), &|| now, &decide).await
    }

    /// Prepares a refund of a damaged order for the caller through the domain's own command, at another time.
    pub async fn prepared_at(&self, by: &Caller, order: &Order, amount: i64, now: Timestamp) -> Intent<Refund> {
        let draft = RefundDraft {
            order_id: order.id.clone(),
            amount_minor: AmountMinor::new(amount).unwrap(),
            currency: order.currency,
            reason: Reason::Damaged,
        };
        let prepare = Prepare::new(by, draft).unwrap();
        execute(self.gateway.ledger(), &|| now, &prepare).await.unwrap().intent
    }

    /// Persists a proposal of any amount past the domain's own draft, as another version of it might have.
    pub async fn prepared_unchecked(&self, by: &Caller, order: &Order, amount: i64) -> Intent<Refund> {
        let refund = Refund {
            order_id: order.id.clone(),
            terms_version: order.terms_version,
            account: order.account.clone(),
            mode: order.mode,
            payment: order.payment.clone(),
            amount_minor: AmountMinor::new(amount).unwrap(),
            currency: order.currency,
            reason: Reason::Damaged,
            similar_operation_id: None,
        };
        let prepare = Prepare::new(by, Unchecked(refund)).unwrap();
        execute(self.gateway.ledger(), &Timestamp::now, &prepare).await.unwrap().intent
    }

    /// Holds or releases all refunds, as this persona.
    pub async fn switch(&self, persona: &str, turn: Turn, why: &str) -> Result<(), Failure> {
        let by = self.caller(persona);
        let switch = Switch::new(&by, Refund::COMMAND, turn, Remark::parse(why).unwrap())?;
        execute(self.gateway.ledger(), &Timestamp::now, &switch).await
    }

    /// The decision about a proposal, its signature verified.
    pub async fn consent(&self, tenant: &str, proposal: &str) -> Consent {
        let item = self.item(&consent_key(tenant, proposal)).await.unwrap();
        Consent::read(&item, self.gateway.consent_keys()).unwrap()
    }
}
