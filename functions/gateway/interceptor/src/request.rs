//! The REQUEST half: every message gets the caller header, with an assertion where one can be made and `-` where none.
//!
//! An omitted header might let one of the client's own through, so it is never omitted.

use countersign::caller::{self, HEADER};
use countersign::clock::Timestamp;
use serde_json::{Value, json};

use crate::interceptor::Interceptor;

/// No tool's full name is longer.
const LONGEST_NAME: usize = 256;
/// What fits into Lambda's client context, 3,583 bytes of base64, beside the gateway's own members.
const LONGEST_ASSERTION: usize = 2_000;

/// Passes the message on, with who is calling; refuses batches, which would hide calls from whoever looks at one.
pub(crate) fn admit(interceptor: &Interceptor, request: Option<&Value>) -> Value {
    let body = request.and_then(|request| request.get("body")).unwrap_or(&Value::Null);
    if body.is_array() {
        tracing::info!(code = "batch_refused", "request");
        return refusal("JSON-RPC batches are not accepted; send one message a request");
    }
    let method = body.get("method").and_then(Value::as_str).unwrap_or_default();
    let headers = request.and_then(|request| request.get("headers"));
    let assertion = match method {
        "tools/call" => assertion(interceptor, headers, body),
        _ => Err("no call"),
    };
    tracing::info!(method = known(method), minted = assertion.is_ok(), why = assertion.as_ref().err(), "request");
    json!({
        "transformedGatewayRequest": {
            "headers": { HEADER: assertion.unwrap_or_else(|_| "-".to_owned()) },
            "body": body,
        }
    })
}

/// The assertion for one call, or why there is none.
fn assertion(interceptor: &Interceptor, headers: Option<&Value>, body: &Value) -> Result<String, &'static str> {
    let tool = body.pointer("/params/name").and_then(Value::as_str).ok_or("no tool named")?;
    if tool.len() > LONGEST_NAME {
        return Err("the tool's name is too long");
    }
    let caller = interceptor.tokens.caller(bearer(headers).ok_or("no bearer token")?)?;
    let minted = caller::mint(&interceptor.signer, &caller, &interceptor.gateway, tool, Timestamp::now());
    let minted = minted.map_err(|_| "the assertion could not be signed")?;
    if minted.len() > LONGEST_ASSERTION {
        return Err("the token names more than an assertion can carry; give the person fewer roles");
    }
    Ok(minted)
}

/// The bearer token, if there is exactly one `Authorization` header and it holds one.
fn bearer(headers: Option<&Value>) -> Option<&str> {
    let mut found = headers?.as_object()?.iter().filter(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    let (_, value) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    let (scheme, token) = value.as_str()?.split_once(' ')?;
    // A header that came twice arrives joined by a comma, which no token holds.
    (scheme.eq_ignore_ascii_case("bearer") && !token.contains(',')).then_some(token.trim())
}

/// A method's name for the log, if it is one that MCP has; anything else is a stranger's text.
fn known(method: &str) -> &str {
    const KNOWN: [&str; 7] = [
        "initialize",
        "notifications/initialized",
        "ping",
        "server/discover",
        "tools/list",
        "tools/call",
        "notifications/cancelled",
    ];
    if KNOWN.contains(&method) { method } else { "other" }
}

fn refusal(message: &str) -> Value {
    json!({
        "transformedGatewayResponse": {
            "statusCode": 400,
            "body": { "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": message } },
        }
    })
}
