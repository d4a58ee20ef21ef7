//! The Lambda Runtime API, version 2018-06-01, as a function's process sees it.
//!
//! <https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>

use countersign::clock::wall_clock;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::listener::read;

use super::call::epoch_millis;
use super::link::{Link, Links, StillRunning, Taken};
use super::{ACCOUNT, Invoked, MAX_PAYLOAD_BYTES, REGION};

/// Serves every process until `stop`, then drops all connections at once: a poll that waits would never end by itself.
pub(super) async fn serve(listener: TcpListener, links: Arc<Links>, stop: CancellationToken) {
    let router = Router::new()
        .route("/{token}/2018-06-01/runtime/invocation/next", get(next))
        .route("/{token}/2018-06-01/runtime/invocation/{id}/response", post(response))
        .route("/{token}/2018-06-01/runtime/invocation/{id}/error", post(error))
        .route("/{token}/2018-06-01/runtime/init/error", post(init_error))
        .with_state(links);
    // Answers are small and awaited: waiting for more to send would cost each call 40 ms.
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "the runtime API keeps Nagle's algorithm on a connection");
        }
    });
    tokio::select! {
        () = stop.cancelled() => {}
        result = axum::serve(listener, router) => if let Err(error) = result {
            tracing::error!(%error, "the runtime API stopped");
        }
    }
}

async fn next(State(links): State<Arc<Links>>, Path(token): Path<String>) -> Response {
    let Some(link) = links.find(&token) else { return unknown_process() };
    match link.next().await {
        Ok(Some(taken)) => invocation(taken),
        Ok(None) => refusal(StatusCode::GONE, "Runtime.Stopped", "the local gateway is shutting down"),
        Err(StillRunning) => {
            refusal(StatusCode::FORBIDDEN, "InvalidStateTransition", "the last invocation was not answered")
        }
    }
}

fn invocation(Taken { call, timeout, function }: Taken) -> Response {
    let now = wall_clock();
    let arn = format!("arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function}");
    let seconds = epoch_millis(now) / 1000;
    let trace = format!("Root=1-{seconds:08x}-{};Sampled=0", call.id.replace('-', "").get(..24).unwrap_or_default());
    let mut response = Response::new(Body::from(call.payload));
    let headers = response.headers_mut();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert("lambda-runtime-deadline-ms", HeaderValue::from(epoch_millis(now + timeout)));
    for (name, text) in [
        ("lambda-runtime-aws-request-id", call.id),
        ("lambda-runtime-invoked-function-arn", arn),
        ("lambda-runtime-trace-id", trace),
    ] {
        // Ids are hexadecimal and package names ASCII, so the value always parses.
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(name, value);
        }
    }
    if let Some(context) = call.client_context {
        headers.insert("lambda-runtime-client-context", context);
    }
    response
}

async fn response(State(links): State<Arc<Links>>, Path((token, id)): Path<(String, String)>, body: Body) -> Response {
    let Some(link) = links.find(&token) else { return unknown_process() };
    match read(body, MAX_PAYLOAD_BYTES).await {
        Ok(Some(answer)) => finish(&link, &id, Invoked::Answered(answer)),
        Ok(None) => {
            let message =
                format!("Response payload size exceeded maximum allowed payload size ({MAX_PAYLOAD_BYTES} bytes).");
            let kind = "Function.ResponseSizeTooLarge";
            link.finish(&id, Invoked::FunctionError { kind: kind.to_owned(), message: message.clone() });
            refusal(StatusCode::PAYLOAD_TOO_LARGE, kind, &message)
        }
        Err(_) => broken_body(),
    }
}

async fn error(
    State(links): State<Arc<Links>>,
    Path((token, id)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let Some(link) = links.find(&token) else { return unknown_process() };
    match read(body, MAX_PAYLOAD_BYTES).await {
        Ok(body) => finish(&link, &id, reported(&headers, body.as_deref().unwrap_or_default())),
        Err(_) => broken_body(),
    }
}

async fn init_error(
    State(links): State<Arc<Links>>,
    Path(token): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let Some(link) = links.find(&token) else { return unknown_process() };
    match read(body, MAX_PAYLOAD_BYTES).await {
        Ok(body) => {
            link.fail_init(reported(&headers, body.as_deref().unwrap_or_default()));
            accepted()
        }
        Err(_) => broken_body(),
    }
}

fn finish(link: &Link, id: &str, outcome: Invoked) -> Response {
    if link.finish(id, outcome) {
        accepted()
    } else {
        refusal(StatusCode::BAD_REQUEST, "InvalidRequestID", "this invocation is not running in this process")
    }
}

/// An error as the runtime reports it; what does not parse is passed on as text.
fn reported(headers: &HeaderMap, body: &[u8]) -> Invoked {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Report {
        error_type: String,
        error_message: String,
    }
    match serde_json::from_slice(body) {
        Ok(Report { error_type, error_message }) => Invoked::FunctionError { kind: error_type, message: error_message },
        Err(_) => {
            let kind = headers.get("lambda-runtime-function-error-type").and_then(|kind| kind.to_str().ok());
            let kind = kind.unwrap_or("Runtime.UnknownReason").to_owned();
            Invoked::FunctionError { kind, message: String::from_utf8_lossy(body).into_owned() }
        }
    }
}

fn accepted() -> Response {
    (StatusCode::ACCEPTED, Json(json!({"status": "OK"}))).into_response()
}

fn broken_body() -> Response {
    refusal(StatusCode::BAD_REQUEST, "InvalidBody", "the body broke off")
}

fn unknown_process() -> Response {
    refusal(StatusCode::FORBIDDEN, "Forbidden", "this address belongs to no running process")
}

fn refusal(status: StatusCode, kind: &str, message: &str) -> Response {
    (status, Json(json!({"errorType": kind, "errorMessage": message}))).into_response()
}
