//! The list: what waits for a decision in the person's tenant, soonest to lapse first.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use countersign::bounded::{IntentId, Tenant};
use countersign::clock::Timestamp;
use countersign::consent;
use countersign::failure::Failure;
use countersign::intent::{self, Intent};
use countersign::item::Item;
use countersign::ledger::Ledger as _;
use refunds::{ProposalId, Refund};
use serde::Deserialize;

use crate::approval_page::ApprovalPage;
use crate::refusal::Refusal;
use crate::sign_in;
use crate::text::ahead;
use crate::view::{self, ListView, Row};

/// How many proposals a page of the list has.
const PAGE: u16 = 20;

/// Where a page of the list begins: after this proposal, which lapses then. Within the person's tenant whatever it says.
#[derive(Debug, Deserialize)]
pub(crate) struct After {
    lapses: Option<i64>,
    id: Option<String>,
}

/// `GET /`
pub(crate) async fn show(State(page): State<Arc<ApprovalPage>>, headers: HeaderMap, after: Query<After>) -> Response {
    let session = match sign_in::session(&page, &headers, None) {
        Ok(session) => session,
        Err(sign_in) => return sign_in.into_response(),
    };
    let after = after.0.lapses.zip(after.0.id.and_then(|id| ProposalId::parse(&id).ok()));
    let further = after.is_some();
    match rows(&page, &session.tenant, after).await {
        Ok((rows, next)) => view::page(&ListView { person: session.person(), rows, next, further }),
        Err(failure) => Refusal::from(failure).into_response(),
    }
}

type Rows = (Vec<Row>, Option<String>);

async fn rows(page: &ApprovalPage, tenant: &Tenant, after: Option<(i64, ProposalId)>) -> Result<Rows, Failure> {
    let after = match after {
        Some((lapses, id)) => Some((Timestamp::from_seconds(lapses), Intent::<Refund>::key(tenant, &id.intent()?))),
        None => None,
    };
    let partition = intent::pending::<Refund>(tenant);
    let start = after.as_ref().map(|(lapses, key)| (*lapses, key));
    let found = page.ledger.pending(&partition, Timestamp::now(), start, PAGE + 1).await?;
    let shown = found.get(..usize::from(PAGE)).unwrap_or(&found);
    let next = match shown.last() {
        Some(last) if shown.len() < found.len() => {
            Some(format!("/?lapses={}&id={}", last.integer("expires_at")?, last.text("intent_id")?))
        }
        Some(_) | None => None,
    };
    let open = open(page, tenant, shown).await?;
    Ok((open.iter().map(row).collect(), next))
}

/// Those of an index's records that are open indeed, as the tables have them now.
pub(crate) async fn open(
    page: &ApprovalPage,
    tenant: &Tenant,
    indexed: &[Item],
) -> Result<Vec<Intent<Refund>>, Failure> {
    let ids: Vec<IntentId> =
        indexed.iter().map(|item| item.parse("intent_id", IntentId::parse)).collect::<Result<_, _>>()?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (intents, consents): (Vec<_>, Vec<_>) =
        ids.iter().map(|id| (Intent::<Refund>::key(tenant, id), consent::key(tenant, id))).unzip();
    let keys: Vec<_> = intents.iter().chain(&consents).cloned().collect();
    let (seen, now) = (page.ledger.load(&keys).await?, Timestamp::now());
    let mut open = Vec::new();
    for (intent, consent) in intents.iter().zip(&consents) {
        let found = seen.item(intent).map(Intent::<Refund>::read).transpose()?.flatten();
        let waits = |found: &Intent<Refund>| found.consumed_by.is_none() && !found.expired(now);
        open.extend(found.filter(waits).filter(|_| seen.item(consent).is_none()));
    }
    Ok(open)
}

/// A proposal as a row.
pub(crate) fn row(intent: &Intent<Refund>) -> Row {
    let refund = &intent.effect;
    let agent = intent.requester.actor.as_ref().map_or_else(String::new, |agent| format!(" through {agent}"));
    Row {
        id: intent.id.to_string(),
        what: format!("Refund {} of order {}", refund.currency.format(refund.amount_minor.get()), refund.order_id),
        who: format!("{}{agent}", intent.requester.principal),
        until: ahead(intent.expires_at, Timestamp::now()),
    }
}
