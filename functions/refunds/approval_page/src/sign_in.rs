//! Signing in and out: the ways to the issuer and back.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use refunds::ProposalId;
use serde::Deserialize;

use crate::approval_page::ApprovalPage;
use crate::cookies::{Cookies, Session};
use crate::provider::SignInError;
use crate::refusal::{self, Coded, Refusal};
use crate::view::{self, RefusalView};

/// Where a sign-in is to lead: to a proposal, or to the list. Never to an address, which could be anybody's.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Towards {
    proposal: Option<String>,
}

/// What the issuer sends back.
#[derive(Debug, Deserialize)]
pub(crate) struct Back {
    code: Option<String>,
    state: Option<String>,
}

/// The session, or the way to one.
pub(crate) fn session(page: &ApprovalPage, headers: &HeaderMap, towards: Option<&str>) -> Result<Session, Redirect> {
    Cookies::of(headers, &page.settings).session().ok_or_else(|| Redirect::to(&way(towards)))
}

/// The address that begins a sign-in.
pub(crate) fn way(towards: Option<&str>) -> String {
    match towards.and_then(|proposal| ProposalId::parse(proposal).ok()) {
        Some(proposal) => format!("/sign-in?proposal={proposal}"),
        None => "/sign-in".to_owned(),
    }
}

/// `GET /sign-in`
pub(crate) async fn begin(
    State(page): State<Arc<ApprovalPage>>,
    headers: HeaderMap,
    towards: Query<Towards>,
) -> Response {
    match page.provider.begin(&page.settings).await {
        Ok((url, mut begun)) => {
            begun.proposal = towards.0.proposal.and_then(|proposal| ProposalId::parse(&proposal).ok());
            (Cookies::of(&headers, &page.settings).begin(&begun), Redirect::to(&url)).into_response()
        }
        Err(error) => refused(&error),
    }
}

/// `GET /callback`
pub(crate) async fn finish(State(page): State<Arc<ApprovalPage>>, headers: HeaderMap, back: Query<Back>) -> Response {
    let cookies = Cookies::of(&headers, &page.settings);
    let begun = cookies.begun();
    // A sign-in is finished once, however it ends.
    let session = match (begun, back.0) {
        (Some(begun), Back { code: Some(code), state: Some(state) }) if begun.state == state => {
            page.provider.finish(&page.settings, code, &begun).await.map(|session| (session, begun.proposal))
        }
        (Some(_) | None, _) => Err(SignInError::Refused("it is not the sign-in that this browser began")),
    };
    match session {
        Ok((session, proposal)) => {
            let to = proposal.map_or_else(|| "/".to_owned(), |proposal| format!("/proposals/{proposal}"));
            (cookies.finish(Some(&session)), Redirect::to(&to)).into_response()
        }
        Err(error) => (cookies.finish(None), refused(&error)).into_response(),
    }
}

/// `POST /sign-out`
pub(crate) async fn out(State(page): State<Arc<ApprovalPage>>, headers: HeaderMap) -> Response {
    if let Err(refusal) = refusal::same_origin(&headers, &page.settings) {
        return refusal.into_response();
    }
    let gone = RefusalView {
        person: None,
        code: None,
        title: "You are signed out".to_owned(),
        next: "You can close this page, or sign in again.".to_owned(),
        link: Some(("Sign in".to_owned(), way(None))),
    };
    let gone = (Extension(Coded("signed_out")), view::page(&gone));
    (Cookies::of(&headers, &page.settings).forget(), gone).into_response()
}

fn refused(error: &SignInError) -> Response {
    // The issuer's own words and ours are for the log; they hold no token and no code.
    tracing::warn!(error = error.to_string(), "nobody signed in");
    let (status, code, title, next) = match error {
        SignInError::Outage(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "temporarily_unavailable",
            "Signing in does not work at the moment",
            "The issuer that vouches for you does not answer. Nothing was changed; try again in a minute.",
        ),
        SignInError::Refused(_) => (
            StatusCode::BAD_REQUEST,
            "sign_in_refused",
            "The sign-in did not work",
            "This sign-in could not be accepted. Nothing was changed; sign in again from here.",
        ),
    };
    let link = Some(("Sign in".to_owned(), way(None)));
    Refusal { status, code, title: title.to_owned(), next: next.to_owned(), link }.into_response()
}
