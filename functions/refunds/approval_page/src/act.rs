//! Deciding: what the forms of a proposal do.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use countersign::bounded::OperationId;
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::consent::{Choice, Decide, Revoke, Verdict};
use countersign::digest::Digest;
use countersign::failure::Failure;
use refunds::Refund;
use serde::Deserialize;

use crate::approval_page::ApprovalPage;
use crate::cookies::{Cookies, Session};
use crate::refusal::{Refusal, same_origin};
use crate::show::{Found, intent_id};
use crate::sign_in;

/// What a form carries.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    /// That this page made it for this session.
    csrf: String,
    /// What the person was shown.
    #[serde(default)]
    digest: String,
    /// The earlier refund that the person ticked.
    known: Option<String>,
}

type Taken = Result<Form<Sent>, FormRejection>;

/// `POST /proposals/{id}/approve`
pub(crate) async fn approve(
    page: State<Arc<ApprovalPage>>,
    headers: HeaderMap,
    id: Path<String>,
    sent: Taken,
) -> Response {
    decide(page, headers, id, sent, Verdict::Approval).await
}

/// `POST /proposals/{id}/reject`
pub(crate) async fn reject(
    page: State<Arc<ApprovalPage>>,
    headers: HeaderMap,
    id: Path<String>,
    sent: Taken,
) -> Response {
    decide(page, headers, id, sent, Verdict::Rejection).await
}

/// `POST /proposals/{id}/revoke`
pub(crate) async fn revoke(
    State(page): State<Arc<ApprovalPage>>,
    headers: HeaderMap,
    Path(id): Path<String>,
    sent: Taken,
) -> Response {
    let session = match admitted(&page, &headers, &id, sent) {
        Ok((session, _)) => session,
        Err(refusal) => return refusal.into_response(),
    };
    match revoked(&page, &session, &id).await {
        Ok(None) => back(&id),
        Ok(Some(refusal)) => refusal.leading_to(&id).into_response(),
        Err(failure) => refused(failure, &id),
    }
}

async fn decide(
    State(page): State<Arc<ApprovalPage>>,
    headers: HeaderMap,
    Path(id): Path<String>,
    sent: Taken,
    verdict: Verdict,
) -> Response {
    let (session, sent) = match admitted(&page, &headers, &id, sent) {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal.into_response(),
    };
    match decided(&page, &session, &id, &sent, verdict).await {
        Ok(()) => back(&id),
        Err(failure) => refused(failure, &id),
    }
}

/// Who sent a form: from a page of ours, in a session of theirs for which it was made, signed in just now.
fn admitted(page: &ApprovalPage, headers: &HeaderMap, id: &str, sent: Taken) -> Result<(Session, Sent), Refusal> {
    same_origin(headers, &page.settings)?;
    let way = || sign_in::way(Some(id));
    let session = Cookies::of(headers, &page.settings).session();
    let session = session
        .ok_or_else(|| Refusal::sign_in(StatusCode::UNAUTHORIZED, "You are not signed in, or not any more", way()))?;
    let Ok(Form(sent)) = sent else {
        let next = "Nothing was changed. Decide from the proposal's own page.";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "invalid_input", "This form is not complete", next));
    };
    if !session.made(&sent.csrf) {
        let next = "Nothing was changed. Open the proposal again and decide from its own page.";
        let title = "This form was not made for your session";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "foreign_form", title, next));
    }
    if session.decides_until() < Timestamp::now() {
        let title = "To decide, you have to have signed in within the last five minutes";
        return Err(Refusal::sign_in(StatusCode::UNAUTHORIZED, title, way()));
    }
    Ok((session, sent))
}

async fn decided(
    page: &ApprovalPage,
    session: &Session,
    id: &str,
    sent: &Sent,
    verdict: Verdict,
) -> Result<(), Failure> {
    let by = session.approver(&page.settings);
    let shown = Digest::parse(&sent.digest).map_err(|error| Failure::invalid_input("digest", error.to_string()))?;
    // What is no operation's id was not what the box stood for.
    let acknowledged = sent.known.as_deref().and_then(|known| OperationId::parse(known).ok());
    let choice = Choice { intent: intent_id(id)?, shown, verdict, acknowledged };
    let decide = Decide::<Refund>::new(&by, choice, page.desk())?;
    execute(&page.ledger, &Timestamp::now, &decide).await.map(drop)
}

/// Takes an approval back, as long as the refund waits to be sent, or to be sent again. What was sent meanwhile is told.
async fn revoked(page: &ApprovalPage, session: &Session, id: &str) -> Result<Option<Refusal>, Failure> {
    let by = session.approver(&page.settings);
    let intent = intent_id(id)?;
    let before = Found::load(page, &session.tenant, &intent).await?;
    if !before.revocable() {
        return Ok(Some(before.too_late()));
    }
    execute(&page.ledger, &Timestamp::now, &Revoke::new(&by, intent.clone())).await?;
    // The worker holds the approval to its not being taken back when it takes the refund: one of the two was first.
    let after = Found::load(page, &session.tenant, &intent).await?;
    Ok((after.attempts() > before.attempts()).then(|| after.too_late()))
}

fn refused(failure: Failure, id: &str) -> Response {
    let refusal = Refusal::from(failure);
    match refusal.status {
        // The way back would tell a proposal that is not there from one that is.
        StatusCode::NOT_FOUND => refusal.into_response(),
        StatusCode::FORBIDDEN => refusal.without_effect().leading_to(id).into_response(),
        _ => refusal.leading_to(id).into_response(),
    }
}

fn back(id: &str) -> Response {
    Redirect::to(&format!("/proposals/{id}")).into_response()
}
