//! The control routes: how the subcommands of `cargo local` speak to the gateway that runs, never to its file.
//!
//! Every request carries the token of `run.json`, which only the gateway's owner can read.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use countersign::bounded::{OperationId, Remark};
use countersign::clock::{Timestamp, wall_clock};
use countersign::command::execute;
use countersign::consent::Verdict;
use countersign::effect::Effect as _;
use countersign::failure::{Code, Failure, Retry};
use countersign::hold::{self, Switch, Turn};
use refunds::Refund;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::approvals::Approvals;
use crate::issuer::{DEFAULT_TTL, Issuer, Persona};
use crate::keys::OPERATIONS_AUDIENCE;

/// How long an operator's token lives: as long as it takes to send one request.
const OPERATIONS_TTL: Duration = Duration::from_secs(60);

/// The header that carries the token of `run.json`.
pub const HEADER: &str = "x-countersign-control";

/// What the routes work on.
pub(crate) struct Control {
    pub(crate) approvals: Approvals,
    pub(crate) issuer: Issuer,
    /// Where operators say what became of something.
    pub(crate) resolve_url: Option<String>,
    pub(crate) token: String,
}

/// How an operator reaches the function that takes their word.
#[derive(Debug, Serialize, Deserialize)]
pub struct Operator {
    /// Where it listens.
    pub url: String,
    /// A token for it.
    pub token: String,
}

/// Who holds or releases all refunds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Hold {
    /// A persona's name.
    pub persona: String,
    /// Why, for whoever asks later.
    pub reason: String,
}

/// Who acts.
#[derive(Debug, Serialize, Deserialize)]
pub struct As {
    /// A persona's name.
    pub persona: String,
}

/// A decision about a proposal as it was shown.
#[derive(Debug, Serialize, Deserialize)]
pub struct Decision {
    /// Who decides.
    pub persona: String,
    /// The digest that they were shown.
    pub digest: String,
    /// The earlier operation that they say they know of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<OperationId>,
}

/// The routes.
pub(crate) fn router(control: Arc<Control>) -> Router {
    Router::new()
        .route("/control/tokens", post(token))
        .route("/control/operators", post(operator))
        .route("/control/hold", post(hold))
        .route("/control/release", post(release))
        .route("/control/holds", get(holds))
        .route("/control/proposals/{id}", get(show))
        .route("/control/proposals/{id}/approve", post(approve))
        .route("/control/proposals/{id}/reject", post(reject))
        .route("/control/proposals/{id}/revoke", post(revoke))
        .layer(middleware::from_fn_with_state(Arc::clone(&control), authorized))
        .with_state(control)
}

async fn authorized(State(control): State<Arc<Control>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(HEADER).map(|value| value.as_bytes());
    if given == Some(control.token.as_bytes()) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "this needs the control token of run.json\n").into_response()
    }
}

async fn token(State(control): State<Arc<Control>>, Json(by): Json<As>) -> Response {
    let Some(persona) = Persona::find(&by.persona) else { return unknown() };
    match control.issuer.token(persona, wall_clock(), DEFAULT_TTL) {
        Ok(token) => Json(json!({ "token": token })).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn operator(State(control): State<Arc<Control>>, Json(by): Json<As>) -> Response {
    let Some(persona) = Persona::find(&by.persona) else { return unknown() };
    let Some(url) = control.resolve_url.clone() else {
        return (StatusCode::NOT_FOUND, "no function takes an operator's word here\n").into_response();
    };
    match control.issuer.token_for(OPERATIONS_AUDIENCE, persona, wall_clock(), OPERATIONS_TTL) {
        Ok(token) => Json(Operator { url, token }).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn hold(control: State<Arc<Control>>, body: Json<Hold>) -> Response {
    switch(control, body, Turn::Held).await
}

async fn release(control: State<Arc<Control>>, body: Json<Hold>) -> Response {
    switch(control, body, Turn::Released).await
}

/// Holds or releases as an administrator's role would.
async fn switch(State(control): State<Arc<Control>>, Json(body): Json<Hold>, turn: Turn) -> Response {
    let Some(persona) = Persona::find(&body.persona) else { return unknown() };
    let switched = async {
        let why = Remark::parse(&body.reason).map_err(|why| Failure::invalid_input("reason", why.to_string()))?;
        let by = control.approvals.person(persona)?.0;
        let switch = Switch::new(&by, Refund::COMMAND, turn, why)?;
        execute(&control.approvals.ledger, &Timestamp::now, &switch).await
    };
    answer(switched.await)
}

async fn holds(State(control): State<Arc<Control>>) -> Response {
    answer(hold::holds(&control.approvals.ledger, Refund::COMMAND).await)
}

async fn show(State(control): State<Arc<Control>>, Path(id): Path<String>, Query(by): Query<As>) -> Response {
    let Some(persona) = Persona::find(&by.persona) else { return unknown() };
    answer(control.approvals.show(persona, &id).await)
}

async fn approve(control: State<Arc<Control>>, id: Path<String>, body: Json<Decision>) -> Response {
    decide(control, id, body, Verdict::Approval).await
}

async fn reject(control: State<Arc<Control>>, id: Path<String>, body: Json<Decision>) -> Response {
    decide(control, id, body, Verdict::Rejection).await
}

async fn decide(
    State(control): State<Arc<Control>>,
    Path(id): Path<String>,
    Json(body): Json<Decision>,
    verdict: Verdict,
) -> Response {
    let Some(persona) = Persona::find(&body.persona) else { return unknown() };
    let Decision { persona: _, digest, acknowledged } = body;
    let decided = control.approvals.decide(persona, &id, &digest, verdict, acknowledged).await;
    answer(decided.map(|decided| decided.statement))
}

async fn revoke(State(control): State<Arc<Control>>, Path(id): Path<String>, Json(by): Json<As>) -> Response {
    let Some(persona) = Persona::find(&by.persona) else { return unknown() };
    answer(control.approvals.revoke(persona, &id).await)
}

fn answer<T: Serialize>(answer: Result<T, Failure>) -> Response {
    match answer {
        Ok(answer) => Json(answer).into_response(),
        Err(failure) => (StatusCode::CONFLICT, Json(failure)).into_response(),
    }
}

fn unknown() -> Response {
    let names: Vec<_> = Persona::all().iter().map(|persona| persona.name).collect();
    let next = format!("choose one of: {}", names.join(", "));
    let failure = Failure::new(Code::NOT_FOUND, Retry::Never, "there is no such persona", next);
    (StatusCode::NOT_FOUND, Json(failure)).into_response()
}
