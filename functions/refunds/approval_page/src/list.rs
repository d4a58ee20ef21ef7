//! The list: what waits for a decision in the person's tenant, and what is approved and not submitted yet, soonest to
//! lapse first.

mod open;

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use countersign::bounded::Tenant;
use countersign::clock::Timestamp;
use countersign::failure::Failure;
use countersign::intent::{self, Intent};
use countersign::item::Item;
pub(crate) use open::{Open, open};
use refunds::{ProposalId, Refund};
use serde::Deserialize;

use crate::approval_page::ApprovalPage;
use crate::refusal::Refusal;
use crate::sign_in;
use crate::view::{self, ListView};

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
    match listed(&page, &session.tenant, after).await {
        Ok(Listed { open, held, next }) => {
            let (approved, waiting): (Vec<_>, Vec<_>) = open.iter().partition(|open| open.approved());
            let (approved, hindered): (Vec<_>, Vec<_>) = approved.into_iter().partition(|open| open.hindered.is_none());
            let rows = |open: Vec<&Open>| open.into_iter().map(Open::row).collect();
            let [waiting, approved, hindered] = [waiting, approved, hindered].map(rows);
            view::page(&ListView { person: session.person(), held, waiting, approved, hindered, next, further })
        }
        Err(failure) => Refusal::from(failure).into_response(),
    }
}

/// A page of the list.
struct Listed {
    open: Vec<Open>,
    /// Whether an operator has stopped all refunds.
    held: bool,
    /// The address of the next page, if there is one.
    next: Option<String>,
}

/// Two requests, whatever there is to list, and a few more where something is approved.
async fn listed(page: &ApprovalPage, tenant: &Tenant, after: Option<(i64, ProposalId)>) -> Result<Listed, Failure> {
    let after = match after {
        Some((lapses, id)) => Some((Timestamp::from_seconds(lapses), Intent::<Refund>::key(tenant, &id.intent()?))),
        None => None,
    };
    let partition = intent::pending::<Refund>(tenant);
    let start = after.as_ref().map(|(lapses, key)| (*lapses, key));
    let found = page.ledger.pending(&partition, Timestamp::now(), start, PAGE + 1).await?;
    let shown = found.get(..usize::from(PAGE)).unwrap_or(&found);
    let place = |item: &Item| {
        let id = item.parse("intent_id", ProposalId::parse).ok()?;
        Some(format!("/?lapses={}&id={id}", item.integer("expires_at").ok()?))
    };
    let next = if shown.len() < found.len() { shown.iter().rev().find_map(place) } else { None };
    let (open, held) = open(page, tenant, shown).await?;
    Ok(Listed { open, held, next })
}
