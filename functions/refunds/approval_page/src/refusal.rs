//! Refusals: a page with the code, a sentence and a next step, under the proper status.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign::bounded::OperationId;
use countersign::failure::{Code, Failure};
use refunds::EXCEEDS_REFUNDABLE;

use crate::cookies::Session;
use crate::settings::Settings;
use crate::view::{self, RefusalView};

/// A page that says no. As a response it is a status and itself, to be rendered by [`Refusal::page`] for whoever looks.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) title: String,
    pub(crate) next: String,
    /// A way on: its words and its address.
    pub(crate) link: Option<(String, String)>,
}

/// The code of a refusal, for the log line of its request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coded(pub(crate) &'static str);

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &'static str, title: &str, next: &str) -> Self {
        let link = Some(("All open proposals".to_owned(), "/".to_owned()));
        Self { status, code, title: title.to_owned(), next: next.to_owned(), link }
    }

    /// With the way back to a proposal.
    pub(crate) fn leading_to(mut self, proposal: &str) -> Self {
        self.link = Some(("Back to the proposal".to_owned(), format!("/proposals/{proposal}")));
        self
    }

    /// With the word that nothing came of it.
    pub(crate) fn without_effect(mut self) -> Self {
        self.next.push_str(" Nothing was changed.");
        self
    }

    /// The page, for whoever is signed in.
    pub(crate) fn page(self, session: Option<&Session>) -> Response {
        let Self { code, title, next, link, .. } = self;
        view::page(&RefusalView { person: session.map(Session::person), code: Some(code), title, next, link })
    }

    /// Why what is approved cannot be submitted; `None` for what passes by itself, and is told of the order.
    pub(crate) fn hindering(failure: Failure) -> Option<Self> {
        (failure.code() != Code::HELD).then(|| Self::from(failure))
    }

    /// The same page for what is absent and for what is another tenant's.
    pub(crate) fn not_found() -> Self {
        let next = "Check the address and as whom you are signed in, or choose from the list.";
        Self::new(StatusCode::NOT_FOUND, Code::NOT_FOUND.as_str(), "There is no such proposal", next)
    }

    /// The person has to sign in, and comes back to the proposal.
    pub(crate) fn sign_in(status: StatusCode, title: &str, way: String) -> Self {
        Self {
            status,
            code: Code::UNAUTHENTICATED.as_str(),
            title: title.to_owned(),
            next: "Nothing was changed. Sign in, look at the proposal again, and decide.".to_owned(),
            link: Some(("Sign in".to_owned(), way)),
        }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let code = failure.code();
        if code == Code::NOT_FOUND {
            return Self::not_found();
        }
        if let Some(cause) = failure.causes() {
            tracing::warn!(code = code.as_str(), cause, "a page could not be made");
        }
        let next = next(code).map_or_else(|| sentence(failure.next_step()), str::to_owned);
        let title = match failure.operation_id().filter(|_| code == Code::PROPOSAL_STALE) {
            Some(operation) => alike(operation),
            None => title(code).map_or_else(|| sentence(failure.message()), str::to_owned),
        };
        Self::new(status(code), code.as_str(), &title, &next)
    }
}

/// That another operation stands where the proposal names none, or another one.
fn alike(operation: &OperationId) -> String {
    format!("The same amount of this order was submitted as {operation}, which this proposal does not name.")
}

/// What a code means to the person who reads it, where the failure's own message is about somebody else.
fn title(code: Code) -> Option<&'static str> {
    let titles = [
        (Code::LIMIT_EXCEEDED, "The amount is over your limit."),
        (Code::APPROVAL_REVOKED, "Whoever approved it may not approve it any more."),
        (Code::ACKNOWLEDGMENT_REQUIRED, "The tick about the earlier refund is missing, or is for another one."),
    ];
    titles.into_iter().find(|(known, _)| *known == code).map(|(_, title)| title)
}

/// What a person does about a code, where the failure's own next step is an agent's.
fn next(code: Code) -> Option<&'static str> {
    const ANEW: &str = "If it is still wanted, ask the requester to have it prepared again.";
    let steps = [
        (Code::PROPOSAL_EXPIRED, ANEW),
        (Code::PROPOSAL_STALE, ANEW),
        (Code::ALREADY_DECIDED, "Look at the proposal to see what became of it. Nothing was changed."),
        (Code::APPROVAL_MISMATCH, "It is not what you were shown. Look at the proposal again before you decide."),
        (Code::APPROVAL_REVOKED, "It can be submitted once somebody who may has approved it anew."),
        (EXCEEDS_REFUNDABLE, "If it is still wanted, ask the requester to have no more prepared than what is left."),
        (Code::LIMIT_EXCEEDED, "Ask a person with a higher limit."),
        (Code::ACKNOWLEDGMENT_REQUIRED, "Look at the earlier refund; if this one is meant beside it, tick the box."),
        (Code::TEMPORARILY_UNAVAILABLE, "Look at the proposal again in a minute, before you decide once more."),
        (Code::INTERNAL, "Try again once; if it persists, ask the platform team."),
    ];
    steps.into_iter().find(|(known, _)| *known == code).map(|(_, step)| step)
}

pub(crate) fn status(code: Code) -> StatusCode {
    let statuses = [
        (Code::NOT_FOUND, StatusCode::NOT_FOUND),
        (Code::FORBIDDEN, StatusCode::FORBIDDEN),
        (Code::LIMIT_EXCEEDED, StatusCode::FORBIDDEN),
        (Code::INVALID_INPUT, StatusCode::BAD_REQUEST),
        (Code::ACKNOWLEDGMENT_REQUIRED, StatusCode::UNPROCESSABLE_ENTITY),
        (Code::PROPOSAL_EXPIRED, StatusCode::GONE),
        (Code::TEMPORARILY_UNAVAILABLE, StatusCode::SERVICE_UNAVAILABLE),
        (Code::DEADLINE_TOO_CLOSE, StatusCode::SERVICE_UNAVAILABLE),
        (Code::INTERNAL, StatusCode::INTERNAL_SERVER_ERROR),
    ];
    let found = statuses.into_iter().find(|(known, _)| *known == code).map(|(_, status)| status);
    found.unwrap_or(StatusCode::CONFLICT)
}

/// A message as a sentence.
fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(Coded(self.code));
        response.extensions_mut().insert(self);
        response
    }
}

/// Whether a form was sent from one of our own pages. Every browser says so with a POST.
pub(crate) fn same_origin(headers: &HeaderMap, settings: &Settings) -> Result<(), Refusal> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let ours = origins.next().is_some_and(|origin| origin.as_bytes() == settings.origin.as_bytes());
    if ours && origins.next().is_none() {
        return Ok(());
    }
    let next = "Nothing was changed. Open the proposal here and decide from its own page.";
    Err(Refusal::new(StatusCode::FORBIDDEN, "foreign_origin", "This form did not come from this page", next))
}
