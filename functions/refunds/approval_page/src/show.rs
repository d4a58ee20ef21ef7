//! One proposal as a person is shown it: persisted data alone, and whether this person may decide about it.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use countersign::bounded::{IntentId, Tenant};
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::consent::{self, Authority, Choice, Consent, Decide, Review, Verdict};
use countersign::effect::Effect as _;
use countersign::failure::{Code, Failure};
use countersign::intent::{self, Intent};
use countersign::ledger::Ledger as _;
use countersign::operation::{self, Operation, State as Stand};
use refunds::{Mode, Order, ProposalId, RecentRefund, Refund};

use crate::approval_page::ApprovalPage;
use crate::cookies::Session;
use crate::list::{open, row};
use crate::refusal::{Refusal, sentence};
use crate::sign_in;
use crate::text::{ahead, harmless, moment};
use crate::view::{self, ProposalView, Row};

/// How many recent refunds of the order are shown.
const REFUNDS: u16 = 5;
/// How far the index of open proposals is read for others of the order.
const LOOKED_AT: u16 = 200;
/// How many of them are shown.
const OTHERS: usize = 10;

/// What the tables hold about a proposal.
pub(crate) struct Found {
    pub(crate) intent: Intent<Refund>,
    pub(crate) consent: Option<Consent>,
    pub(crate) order: Option<Order>,
    pub(crate) operation: Option<Operation<Refund>>,
}

/// `GET /proposals/{id}`
pub(crate) async fn show(
    State(page): State<Arc<ApprovalPage>>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Response {
    let session = match sign_in::session(&page, &headers, Some(&id)) {
        Ok(session) => session,
        Err(sign_in) => return sign_in.into_response(),
    };
    match view(&page, &session, &id).await {
        Ok(view) => view::page(&view),
        Err(failure) => Refusal::from(failure).into_response(),
    }
}

/// The intent that an address names. What can be none is not there.
pub(crate) fn intent_id(id: &str) -> Result<IntentId, Failure> {
    ProposalId::parse(id).map_err(|_| Failure::not_found("proposal"))?.intent()
}

impl Found {
    pub(crate) async fn load(page: &ApprovalPage, tenant: &Tenant, id: &IntentId) -> Result<Self, Failure> {
        let [intent_key, consent_key] = [Intent::<Refund>::key(tenant, id), consent::key(tenant, id)];
        let seen = page.ledger.load(&[intent_key.clone(), consent_key.clone()]).await?;
        let intent = seen.item(&intent_key).map(Intent::<Refund>::read).transpose()?.flatten();
        let intent = intent.ok_or_else(|| Failure::not_found("proposal"))?;
        let consent = seen.item(&consent_key).map(|item| Consent::read(item, &page.keys)).transpose();
        let consent = consent.map_err(Failure::internal)?;
        let order_key = intent.effect.subject(tenant);
        let operation_key = intent.consumed_by.as_ref().map(|id| operation::key(tenant, id));
        let keys: Vec<_> = [Some(order_key.clone()), operation_key.clone()].into_iter().flatten().collect();
        let seen = page.ledger.load(&keys).await?;
        let operation = operation_key.and_then(|key| seen.item(&key)).map(Operation::<Refund>::read);
        Ok(Self {
            order: seen.item(&order_key).map(Order::read).transpose()?,
            operation: operation.transpose()?.flatten(),
            intent,
            consent,
        })
    }

    /// Whether taking the approval back would still stop something.
    pub(crate) fn revocable(&self) -> bool {
        let approved = self
            .consent
            .as_ref()
            .is_some_and(|consent| consent.statement().kind == Verdict::Approval && !consent.is_revoked());
        let unsent = self.operation.as_ref().is_none_or(|now| now.state == Stand::Queued && now.attempts == 0);
        approved && unsent
    }

    /// Where it stands, in a sentence.
    pub(crate) fn standing(&self, now: Timestamp) -> String {
        if let Some(operation) = &self.operation {
            return format!("It was submitted as {} and is {}: {}.", operation.id, operation.state, operation.advice());
        }
        match &self.consent {
            Some(consent) => {
                let said = consent.statement();
                let when = moment(Timestamp::from_seconds(said.decided_at));
                match (said.kind, consent.is_revoked()) {
                    (Verdict::Rejection, _) => format!("{} rejected it at {when}.", said.approver),
                    (Verdict::Approval, true) => {
                        format!("{} approved it at {when}; that was taken back.", said.approver)
                    }
                    (Verdict::Approval, false) => {
                        let until = ahead(Timestamp::from_seconds(said.expires_at), now);
                        format!("{} approved it at {when}; it can be submitted until {until}.", said.approver)
                    }
                }
            }
            None if self.intent.expired(now) => format!("It lapsed at {}.", moment(self.intent.expires_at)),
            None => format!("Nobody has decided yet. It lapses at {}.", ahead(self.intent.expires_at, now)),
        }
    }
}

async fn view(page: &ApprovalPage, session: &Session, id: &str) -> Result<ProposalView, Failure> {
    let tenant = &session.tenant;
    let found = Found::load(page, tenant, &intent_id(id)?).await?;
    let approve = review(page, session, &found.intent, Verdict::Approval).await?;
    let reject = review(page, session, &found.intent, Verdict::Rejection).await?;
    let others = others(page, tenant, &found.intent).await?;
    let mut refunds = page.ledger.recent(&found.intent.effect.subject(tenant), REFUNDS + 1).await?;
    let more_refunds = refunds.len() > usize::from(REFUNDS);
    refunds.truncate(REFUNDS.into());
    let refund = &found.intent.effect;
    let recent = |item| {
        let RecentRefund { operation_id: _, amount_minor, state, accepted_at } = RecentRefund::read(item)?;
        Ok((refund.currency.format(amount_minor.get()), state.to_string(), moment(accepted_at)))
    };
    Ok(ProposalView {
        person: session.person(),
        id: found.intent.id.to_string(),
        amount: refund.currency.format(refund.amount_minor.get()),
        of_what: format!("of order {} to the payment it was paid with", refund.order_id),
        asked: asked(&found.intent),
        live: refund.mode == Mode::Live,
        standing: found.standing(Timestamp::now()),
        facts: facts(&found.intent),
        order: found.order.as_ref().map(order).unwrap_or_default(),
        others,
        refunds: refunds.iter().map(recent).collect::<Result<_, Failure>>()?,
        more_refunds,
        note: found.order.as_ref().and_then(|order| order.customer_note.as_deref()).map(harmless),
        digest: found.intent.digest.to_string(),
        csrf: session.csrf.clone(),
        known: refund.acknowledge().map(ToString::to_string),
        may_approve: approve.is_none(),
        may_reject: reject.is_none(),
        may_revoke: found.revocable() && may_revoke(page, session).await?,
        // What was decided is told already, without a reproach.
        why_not: approve
            .filter(|refusal| refusal.code != Code::ALREADY_DECIDED.as_str())
            .map(|Refusal { code, title, next, .. }| (code, title, next)),
    })
}

/// Why this person could not decide so now, by the decision itself; `None` where they could.
async fn review(
    page: &ApprovalPage,
    session: &Session,
    intent: &Intent<Refund>,
    verdict: Verdict,
) -> Result<Option<Refusal>, Failure> {
    let by = session.approver(&page.settings);
    let acknowledged = intent.effect.acknowledge().cloned();
    let choice = Choice { intent: intent.id.clone(), shown: intent.digest, verdict, acknowledged };
    let review = Review(Decide::<Refund>::new(&by, choice, page.desk())?);
    Ok(execute(&page.ledger, &Timestamp::now, &review).await.err().map(Refusal::from))
}

async fn may_revoke(page: &ApprovalPage, session: &Session) -> Result<bool, Failure> {
    let key = Authority::key(&session.tenant, &session.principal);
    let seen = page.ledger.load(std::slice::from_ref(&key)).await?;
    Ok(session.approver(&page.settings).may_revoke(seen.item(&key)))
}

/// Other open proposals of the same order.
async fn others(page: &ApprovalPage, tenant: &Tenant, ours: &Intent<Refund>) -> Result<Vec<Row>, Failure> {
    let partition = intent::pending::<Refund>(tenant);
    let mut found = page.ledger.pending(&partition, Timestamp::now(), None, LOOKED_AT).await?;
    found.retain(|item| {
        let other = item.text("intent_id") != Ok(ours.id.as_str());
        let refund = item.text("effect").ok().and_then(|effect| serde_json::from_str::<Refund>(effect).ok());
        other && refund.is_some_and(|refund| refund.order_id == ours.effect.order_id)
    });
    found.truncate(OTHERS);
    Ok(open(page, tenant, &found).await?.iter().map(row).collect())
}

fn asked(intent: &Intent<Refund>) -> String {
    let by = intent.requester.principal.as_str();
    let through = through(intent).map_or_else(String::new, |through| format!(" through {through}"));
    format!("{by} asks for it{through}. The reason: {}.", reason(&intent.effect))
}

fn reason(refund: &Refund) -> String {
    refund.reason.to_string().replace('_', " ")
}

/// The agent and the app that a proposal came through.
fn through(intent: &Intent<Refund>) -> Option<String> {
    let named = [
        ("agent", intent.requester.actor.as_ref().map(ToString::to_string)),
        ("app", intent.requester.client.as_ref().map(ToString::to_string)),
    ];
    let named: Vec<_> = named.into_iter().filter_map(|(what, name)| Some(format!("the {what} {}", name?))).collect();
    (!named.is_empty()).then(|| named.join(", "))
}

fn facts(intent: &Intent<Refund>) -> Vec<(&'static str, String)> {
    let (refund, requester) = (&intent.effect, &intent.requester);
    let mut facts = vec![
        ("Amount", refund.currency.format(refund.amount_minor.get())),
        ("Goes to", format!("the original payment {}, taken at {}", refund.payment, refund.account)),
        ("Reason", reason(refund)),
        ("Asked for by", requester.principal.to_string()),
    ];
    if let Some(through) = through(intent) {
        facts.push(("Through", through));
    }
    facts.push(("Prepared at", moment(intent.created_at)));
    facts.push(("Lapses at", moment(intent.expires_at)));
    facts.push(("Proposal", intent.id.to_string()));
    facts.push(("Digest", intent.digest.short()));
    facts
}

/// The order as it is now.
fn order(order: &Order) -> Vec<(&'static str, String)> {
    let money = |minor: i64| order.currency.format(minor);
    vec![
        ("Status", order.status.to_string()),
        ("Placed at", moment(order.placed_at)),
        ("Paid", money(order.captured_minor.get())),
        ("Refunded", money(order.refunded_minor.get())),
        ("On its way back", money(order.reserved_minor.get())),
        ("Left to refund", money(order.refundable_minor.get())),
    ]
}

/// What became of an approval, where there is nothing left to take back.
pub(crate) fn too_late(found: &Found) -> Refusal {
    let code = Code::ALREADY_DECIDED.as_str();
    let standing = found.standing(Timestamp::now());
    let title = match &found.operation {
        Some(operation) => sentence(&format!("too late: the refund is {}", operation.state)),
        None => "There is no approval to take back".to_owned(),
    };
    Refusal::new(axum::http::StatusCode::CONFLICT, code, &title, &standing)
}
