//! The HTTP API: <https://docs.stripe.com/api/refunds/create>, `…/retrieve` and `…/list`.

use std::io;

use axum::{
    Form, Json, Router,
    body::Body,
    extract::{Path, Query, Request, State, rejection::FormRejection},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use super::{
    Provider, Seen,
    answer::Answer,
    idempotency::Scope,
    ledger::Step,
    params::{Create, List, Pairs},
};

pub(super) fn router(provider: Provider) -> Router {
    let api = Router::new()
        .route("/v1/refunds", get(list).post(create))
        .route("/v1/refunds/{id}", get(retrieve))
        .layer(middleware::from_fn_with_state(provider.clone(), enter));
    let api = api.route("/_countersign/refunds", get(overview)).route("/_countersign/events", get(events));
    api.with_state(provider)
}

/// Notes the request, and lets only a test key in.
async fn enter(State(provider): State<Provider>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    provider.ledger().saw(Seen {
        method: request.method().to_string(),
        path: request.uri().path().to_owned(),
        idempotency_key: text(headers, "idempotency-key").map(ToOwned::to_owned),
    });
    let key = text(headers, header::AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer sk_test_"));
    let mut response = match key {
        Some(rest) if !rest.is_empty() => next.run(request).await,
        _ => Answer::unauthorized().into_response(),
    };
    if let Ok(id) = HeaderValue::try_from(request_id()) {
        response.headers_mut().insert("request-id", id);
    }
    response
}

async fn create(
    State(provider): State<Provider>,
    headers: HeaderMap,
    form: Result<Form<Pairs>, FormRejection>,
) -> Response {
    let request = match form {
        Ok(Form(pairs)) => Create::parse(pairs),
        Err(rejection) => Err(Answer::invalid(rejection.body_text(), "")),
    };
    let request = match request {
        Ok(request) => request,
        Err(refusal) => return refusal.into_response(),
    };
    let step = provider.ledger().create(&request, account(&headers), text(&headers, "idempotency-key"));
    take(step, provider).await
}

async fn take(step: Step, provider: Provider) -> Response {
    match step {
        Step::Answer(answer) => answer.into_response(),
        Step::Replay(answer) => ([("idempotent-replayed", "true")], answer).into_response(),
        Step::Hang(scope) => {
            let _in_flight = InFlight { provider, scope };
            std::future::pending().await
        }
        Step::Drop => hang_up(),
    }
}

async fn retrieve(State(provider): State<Provider>, headers: HeaderMap, Path(id): Path<String>) -> Answer {
    provider.ledger().retrieve(&id, account(&headers))
}

async fn list(State(provider): State<Provider>, headers: HeaderMap, Query(pairs): Query<Pairs>) -> Response {
    let step = match List::parse(pairs) {
        Ok(list) => provider.ledger().list(&list, account(&headers)),
        Err(refusal) => Step::Answer(refusal),
    };
    take(step, provider).await
}

/// Every event and what became of telling it, for people.
async fn events(State(provider): State<Provider>) -> Json<Value> {
    Json(json!({ "events": provider.events(), "deliveries": provider.deliveries() }))
}

/// Every refund, for people.
async fn overview(State(provider): State<Provider>) -> Json<Value> {
    Json(json!({ "refunds": provider.ledger().refunds() }))
}

/// Frees a key when a client hangs up on a request that was never answered.
struct InFlight {
    provider: Provider,
    scope: Option<Scope>,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(scope) = &self.scope {
            self.provider.ledger().abandon(scope);
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(self.body)).into_response()
    }
}

/// A response whose body fails before its first byte: the server closes the connection with nothing sent.
fn hang_up() -> Response {
    let failing = futures::stream::once(async { Err::<Bytes, _>(io::Error::from(io::ErrorKind::ConnectionReset)) });
    Response::new(Body::from_stream(failing))
}

/// The connected account for which a request is made (<https://docs.stripe.com/connect/authentication>).
fn account(headers: &HeaderMap) -> &str {
    text(headers, "stripe-account").unwrap_or_default()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// A request id to correlate log lines with.
fn request_id() -> String {
    let mut random = [0_u8; 7];
    let _ = getrandom::fill(&mut random);
    format!("req_{}", HEXLOWER.encode(&random))
}
