//! The door of the endpoint: everything that is decided about a request before the protocol is spoken.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use serde_json::{Value, json};

use crate::listener::{is_loopback, is_loopback_host, read};

use super::{
    MAX_REQUEST_BYTES, Settings,
    interceptor::{Interceptor, Verdict, gateway_request},
    sessions::{Owner, Sessions},
};

/// The header in which the interceptor names the caller. A client's own never passes.
pub(super) const CALLER_HEADER: &str = "x-countersign-caller";

/// A message that may go on, as the rest of the endpoint finds it among the request's extensions.
#[derive(Debug, Clone)]
pub(super) struct Admitted {
    /// The value to propagate to a tool.
    pub(super) caller: String,
    /// `mcp.gatewayRequest`, as the interceptor left it.
    pub(super) request: Arc<Value>,
    /// The body as it came.
    pub(super) raw: Arc<str>,
}

/// What the door knows.
pub(super) struct Gate {
    interceptor: Interceptor,
    sessions: Sessions,
    settings: Settings,
}

impl Gate {
    pub(super) fn new(interceptor: Interceptor, sessions: Sessions, settings: Settings) -> Self {
        Self { interceptor, sessions, settings }
    }

    /// 401, with the way to a token (<https://www.rfc-editor.org/rfc/rfc9728#section-5.1>).
    fn unauthorized(&self, error: Option<&str>) -> Response {
        let mut challenge = format!(
            "Bearer realm=\"countersign-local\", resource_metadata=\"{}/.well-known/oauth-protected-resource\"",
            self.settings.issuer
        );
        if let Some(error) = error {
            challenge.push_str(&format!(", error=\"{error}\""));
        }
        let message = match error {
            None => "a bearer token is needed; see WWW-Authenticate",
            Some(_) => "the bearer token is not valid or has expired; get a new one",
        };
        let mut response = refuse(StatusCode::UNAUTHORIZED, -32001, message);
        if let Ok(challenge) = HeaderValue::from_str(&challenge) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }

    /// Asks the interceptor about one message. The answer is what goes on, or the response that ends it.
    async fn intercept(&self, parts: &http::request::Parts, raw: &Bytes) -> Result<(Admitted, Value), Response> {
        let Ok(raw) = std::str::from_utf8(raw) else {
            return Err(refuse(StatusCode::BAD_REQUEST, -32700, "the body is not UTF-8"));
        };
        let body: Value = match serde_json::from_str(raw) {
            Ok(body @ Value::Object(_)) => body,
            Ok(Value::Array(_)) => {
                return Err(refuse(
                    StatusCode::BAD_REQUEST,
                    -32600,
                    "batches are not taken; send one message a request",
                ));
            }
            Ok(_) => return Err(refuse(StatusCode::BAD_REQUEST, -32600, "the body is not a JSON-RPC message")),
            Err(_) => return Err(refuse(StatusCode::BAD_REQUEST, -32700, "the body is not JSON")),
        };
        let request = gateway_request(parts.uri.path(), &parts.headers, &body);
        match self.interceptor.request(raw, &request).await {
            Ok(Verdict::Answer(response)) => Err(response),
            Ok(Verdict::Forward { caller, body: forwarded }) => {
                let request = Arc::new(overridden(request, &caller, &forwarded));
                Ok((Admitted { caller, request, raw: Arc::from(raw) }, forwarded))
            }
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "refused a message: no word on its caller");
                Err(unknown_caller(&body))
            }
        }
    }
}

/// Lets a request through to the protocol, or answers it.
pub(super) async fn admit(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    if !is_local(&parts.uri, &parts.headers) {
        return refuse(StatusCode::FORBIDDEN, -32000, "only loopback hosts and origins may call this gateway");
    }
    let raw = match read(body, MAX_REQUEST_BYTES).await {
        Ok(Some(raw)) => raw,
        Ok(None) => return refuse(StatusCode::PAYLOAD_TOO_LARGE, -32600, "the body has more than 1 MB"),
        // It came too slowly, or broke off.
        Err(_) => return refuse(StatusCode::REQUEST_TIMEOUT, -32600, "the body did not arrive"),
    };
    let by = match bearer_token(&parts.headers) {
        None => return gate.unauthorized(None),
        Some(token) if !(gate.settings.authorizer)(token) => return gate.unauthorized(Some("invalid_token")),
        Some(token) => Owner::of(token),
    };
    gate.sessions.hide(&mut parts.headers, &by);
    // A stream is opened, or a session closed, without a message: there is nothing to ask the interceptor about.
    if parts.method != Method::POST {
        parts.headers.remove(CALLER_HEADER);
        return next.run(Request::from_parts(parts, Body::from(raw))).await;
    }
    let (admitted, forwarded) = match gate.intercept(&parts, &raw).await {
        Ok(passed) => passed,
        Err(response) => return response,
    };
    // From here on neither the user's token nor a header of the client's invention is of use to anyone.
    parts.headers.remove(header::AUTHORIZATION);
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(CALLER_HEADER);
    parts.extensions.insert(admitted);
    let response = next.run(Request::from_parts(parts, Body::from(forwarded.to_string()))).await;
    gate.sessions.note(response.headers(), by).await;
    response
}

/// Whether both the host that was asked and the page that asks, if any, are this machine.
///
/// Without it, a web page could reach the gateway through a name that it rebinds to loopback.
fn is_local(uri: &Uri, headers: &HeaderMap) -> bool {
    let origin_is_local = match headers.get(header::ORIGIN) {
        None => true,
        Some(origin) => origin
            .to_str()
            .ok()
            .and_then(|origin| origin.parse::<Uri>().ok())
            .filter(|origin| matches!(origin.scheme_str(), Some("http" | "https")))
            .is_some_and(|origin| origin.authority().is_some_and(is_loopback)),
    };
    origin_is_local && is_loopback_host(uri, headers)
}

/// The bearer token, if there is exactly one.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    let sound = values.next().is_none() && scheme.eq_ignore_ascii_case("bearer") && !token.is_empty();
    sound.then_some(token)
}

/// The request as the RESPONSE half sees it: with the interceptor's body, and its header over the client's.
fn overridden(mut request: Value, caller: &str, body: &Value) -> Value {
    if let Some(headers) = request.get_mut("headers").and_then(Value::as_object_mut) {
        headers.insert(CALLER_HEADER.to_owned(), Value::String(caller.to_owned()));
    }
    if let Some(members) = request.as_object_mut() {
        members.insert("body".to_owned(), body.clone());
    }
    request
}

/// The refusal of a message about which the interceptor said nothing usable.
///
/// A request gets a JSON-RPC error under its own id with status 200, since clients show those and hide bodies of a 5xx.
fn unknown_caller(message: &Value) -> Response {
    let text = "the gateway could not establish who is calling; retry later";
    match message.get("id") {
        Some(id) => {
            let body = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": text } });
            (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
        }
        None => refuse(StatusCode::BAD_GATEWAY, -32603, text),
    }
}

/// A refusal before the message was understood, so without an id.
fn refuse(status: StatusCode, code: i32, message: &str) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
