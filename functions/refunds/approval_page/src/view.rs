//! Views: what the templates show. They escape every text by themselves.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};

/// A page that says no.
#[derive(Template)]
#[template(path = "refusal.html")]
pub(crate) struct RefusalView {
    /// Who is signed in, where somebody is.
    pub(crate) person: Option<String>,
    /// None where nothing is the matter.
    pub(crate) code: Option<&'static str>,
    pub(crate) title: String,
    pub(crate) next: String,
    pub(crate) link: Option<(String, String)>,
}

/// The list of what is open.
#[derive(Template)]
#[template(path = "list.html")]
pub(crate) struct ListView {
    pub(crate) person: String,
    /// Whether an operator has stopped all refunds.
    pub(crate) held: bool,
    pub(crate) waiting: Vec<Row>,
    /// What is approved and not submitted yet.
    pub(crate) approved: Vec<Row>,
    /// What is approved, and would be refused if it were submitted now.
    pub(crate) hindered: Vec<Row>,
    /// The address of the next page, if there is one.
    pub(crate) next: Option<String>,
    /// Whether this is not the first page.
    pub(crate) further: bool,
}

/// One proposal in a list.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) what: String,
    pub(crate) where_it_stands: String,
}

/// One proposal.
#[derive(Template)]
#[template(path = "proposal.html")]
pub(crate) struct ProposalView {
    pub(crate) person: String,
    pub(crate) id: String,
    pub(crate) amount: String,
    /// What the amount is of, and where it goes: the rest of the sentence that it begins.
    pub(crate) of_what: String,
    /// Whose money it is, in one sentence.
    pub(crate) whose: String,
    /// Who asks for it and why, in one sentence.
    pub(crate) asked: String,
    /// What it does to the order, in one sentence.
    pub(crate) leaves: Option<String>,
    /// Whether real money moves.
    pub(crate) live: bool,
    /// Where it stands, in one sentence.
    pub(crate) standing: String,
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) order: Vec<(&'static str, String)>,
    /// What keeps it from being submitted or sent: what is the matter, and what that means.
    pub(crate) blocked: Option<(&'static str, &'static str)>,
    /// Other open proposals of the order, those that are approved already first.
    pub(crate) others: Vec<Row>,
    pub(crate) more_others: bool,
    /// What of the order is approved already beside this one, in a sentence.
    pub(crate) besides: Option<String>,
    /// Recent refunds of the order, each with its operation.
    pub(crate) refunds: Vec<(String, String)>,
    pub(crate) more_refunds: bool,
    /// What the customer wrote, and whether there is more of it.
    pub(crate) note: Option<(String, bool)>,
    pub(crate) digest: String,
    pub(crate) csrf: String,
    /// The earlier refund that whoever approves has to say they know of.
    pub(crate) known: Option<String>,
    /// Until when the person's sign-in is recent enough; `None` once it is not.
    pub(crate) decides_until: Option<String>,
    pub(crate) may_approve: bool,
    pub(crate) may_reject: bool,
    pub(crate) may_revoke: bool,
    /// What comes of taking the approval back.
    pub(crate) revoking: &'static str,
    /// Why it cannot be submitted although it is approved, and why it cannot be approved.
    pub(crate) objections: Vec<Objection>,
}

/// What stands in the way of one proposal.
pub(crate) struct Objection {
    /// Of what.
    pub(crate) lead: &'static str,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) next: String,
}

/// A page, or the admission that there is none.
pub(crate) fn page(view: &impl Template) -> Response {
    match view.render() {
        Ok(html) => Html(html).into_response(),
        Err(error) => {
            tracing::error!(error = error.to_string(), "a template does not render");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
