//! One proposal as a person is shown it: persisted data alone, and whether this person may decide about it.

mod found;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use countersign::bounded::Tenant;
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::consent::{Authority, Choice, Decide, Review, Verdict};
use countersign::effect::Effect as _;
use countersign::failure::{Code, Failure};
use countersign::intent::{self, Intent};
use countersign::ledger::Ledger as _;
pub(crate) use found::{Found, intent_id};
use refunds::{Mode, Order, RecentRefund, Refund};

use crate::approval_page::ApprovalPage;
use crate::cookies::Session;
use crate::list::{Open, open};
use crate::refusal::Refusal;
use crate::sign_in;
use crate::text::{ahead, harmless, moment};
use crate::view::{self, Objection, ProposalView};

/// How many recent refunds of the order are shown.
const REFUNDS: u16 = 5;
/// How far the index of open proposals is read for others of the order.
const LOOKED_AT: u16 = 200;
/// How many of those that it names are looked up.
const READ: usize = 49;
/// How many of them are shown.
const OTHERS: usize = 10;

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

async fn view(page: &ApprovalPage, session: &Session, id: &str) -> Result<ProposalView, Failure> {
    let (tenant, now) = (&session.tenant, Timestamp::now());
    let mut found = Found::load(page, tenant, &intent_id(id)?).await?;
    found.foresee(page, now).await?;
    let approve = review(page, session, &found.intent, Verdict::Approval).await?;
    let reject = review(page, session, &found.intent, Verdict::Rejection).await?;
    let refund = &found.intent.effect;
    let others = Others::load(page, tenant, &found.intent).await?;
    let mut refunds = page.ledger.recent(&refund.subject(tenant), REFUNDS + 1).await?;
    let more_refunds = refunds.len() > usize::from(REFUNDS);
    refunds.truncate(REFUNDS.into());
    let recent = |item| {
        let RecentRefund { operation_id, amount_minor, state, accepted_at } = RecentRefund::read(item)?;
        let what =
            format!("{}, {state}, accepted at {}", refund.currency.format(amount_minor.get()), moment(accepted_at));
        Ok((what, operation_id.to_string()))
    };
    let blocked = found.blocked(now);
    Ok(ProposalView {
        person: session.person(),
        id: found.intent.id.to_string(),
        amount: refund.currency.format(refund.amount_minor.get()),
        of_what: format!("of order {} back to the customer's original payment", refund.order_id),
        whose: format!("It comes from {tenant}, out of the merchant account {}.", refund.account),
        asked: asked(&found.intent),
        leaves: found.leaves(now),
        live: refund.mode == Mode::Live,
        standing: found.standing(now),
        facts: facts(&found),
        order: found.order.as_ref().map(order).unwrap_or_default(),
        others: others.open.iter().take(OTHERS).map(Open::row).collect(),
        more_others: others.more || others.open.len() > OTHERS,
        besides: others.besides(refund, found.order.as_ref()).filter(|_| found.open(now) && found.hindered.is_none()),
        refunds: refunds.iter().map(recent).collect::<Result<_, Failure>>()?,
        more_refunds,
        note: found.order.as_ref().and_then(|order| order.customer_note.as_deref()).map(harmless),
        digest: found.intent.digest.to_string(),
        csrf: session.csrf.clone(),
        known: refund.acknowledge().map(ToString::to_string),
        decides_until: (session.decides_until() >= now).then(|| ahead(session.decides_until(), now)),
        may_approve: approve.is_none(),
        may_reject: reject.is_none(),
        revoking: found.revoking(),
        // Where an approval is of no use any more, the rejection that takes its place does as much.
        may_revoke: reject.is_some() && found.revocable() && may_revoke(page, session).await?,
        objections: objections(&found, approve, blocked.is_some()),
        blocked,
    })
}

/// What stands in its way: of being submitted, once it is approved, and of this person's approving it.
fn objections(found: &Found, approve: Option<Refusal>, blocked: bool) -> Vec<Objection> {
    let objections =
        [("As things stand, it cannot be submitted.", found.hindered.clone()), ("You cannot approve this.", approve)];
    // What was decided, and what stops every refund, is told already, without a reproach.
    let told = |code| code == Code::ALREADY_DECIDED.as_str() || (code == Code::HELD.as_str() && blocked);
    let objections = objections.into_iter().filter_map(|(lead, refusal)| Some((lead, refusal?)));
    let objections = objections.filter(|(_, refusal)| !told(refusal.code));
    objections.map(|(lead, Refusal { code, title, next, .. })| Objection { lead, code, message: title, next }).collect()
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
struct Others {
    /// Those that are approved already first.
    open: Vec<Open>,
    more: bool,
}

impl Others {
    /// Two requests, and those that [`open`] makes of what is approved.
    async fn load(page: &ApprovalPage, tenant: &Tenant, ours: &Intent<Refund>) -> Result<Self, Failure> {
        let partition = intent::pending::<Refund>(tenant);
        let mut found = page.ledger.pending(&partition, Timestamp::now(), None, LOOKED_AT).await?;
        let mut more = found.len() == usize::from(LOOKED_AT);
        found.retain(|item| {
            let other = item.text("intent_id") != Ok(ours.id.as_str());
            let refund = item.text("effect").ok().and_then(|effect| serde_json::from_str::<Refund>(effect).ok());
            other && refund.is_some_and(|refund| refund.order_id == ours.effect.order_id)
        });
        more |= found.len() > READ;
        found.truncate(READ);
        let (mut open, _) = open(page, tenant, &found).await?;
        open.sort_by_key(|open| !open.approved());
        Ok(Self { open, more })
    }

    /// How much of the order is approved already, beside ours, and whether all of it can go back, in a few sentences.
    fn besides(&self, ours: &Refund, order: Option<&Order>) -> Option<String> {
        let approved = self.open.iter().filter(|open| open.approved() && open.hindered.is_none());
        let approved = approved.map(|open| &open.intent.effect).filter(|refund| refund.currency == ours.currency);
        let amounts: Vec<_> = approved.map(|refund| refund.amount_minor).collect();
        let approved: i64 = amounts.iter().map(|amount| amount.get()).sum();
        let money = |minor| ours.currency.format(minor);
        let left =
            order.map(|order| order.refundable_minor.get()).filter(|left| *left < approved + ours.amount_minor.get());
        let fits = left.map_or_else(String::new, |left| {
            format!(" With this one that is more than the {} that are left: not all of it can go back.", money(left))
        });
        let alike = match amounts.as_slice() {
            [amount] if *amount == ours.amount_minor => " It is the same amount as this: of the two, one is accepted.",
            amounts if amounts.contains(&ours.amount_minor) => {
                " One in it is of the same amount as this: of the two, one is accepted."
            }
            _ => "",
        };
        let told = format!("{} of the same order is approved already and not submitted yet.", money(approved));
        (approved > 0).then(|| format!("{told}{alike}{fits}"))
    }
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

fn facts(found: &Found) -> Vec<(&'static str, String)> {
    let intent = &found.intent;
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
    if let Some(operation) = &found.operation {
        facts.push(("Approved by", operation.approver.to_string()));
        facts.push(("Submitted at", moment(operation.accepted_at)));
    }
    facts.push(("Proposal", intent.id.to_string()));
    facts.push(("Digest", format!("{}…", intent.digest.short())));
    facts
}

/// The order as it is now.
fn order(order: &Order) -> Vec<(&'static str, String)> {
    let money = |minor: i64| order.currency.format(minor);
    let mut facts = vec![
        ("Status", order.status.to_string()),
        ("Placed at", moment(order.placed_at)),
        ("Paid", money(order.captured_minor.get())),
        ("Refunded", money(order.refunded_minor.get())),
        ("On its way back", money(order.reserved_minor.get())),
        ("Left to refund", money(order.refundable_minor.get())),
    ];
    if order.conflicts > 0 {
        facts.push(("Refunds in conflict", order.conflicts.to_string()));
    }
    facts
}
