//! The REQUEST half: every message gets the caller header, with an assertion where one can be made and `-` where none.
//!
//! An omitted header might let one of the client's own through, so it is never omitted.

use countersign::caller::{self, HEADER};
use countersign::clock::Timestamp;
use countersign::failure::{Code, Failure, Retry};
use serde_json::{Value, json};

use crate::interceptor::Interceptor;
use tokens::Nobody;

/// No tool's full name is longer.
const LONGEST_NAME: usize = 256;
/// What fits into Lambda's client context, 3,583 bytes of base64, beside the gateway's own members.
const LONGEST_ASSERTION: usize = 2_000;

/// Passes the message on, with who is calling; refuses batches, which would hide calls from whoever looks at one, and
/// calls about whose token nothing can be known now.
pub(crate) async fn admit(interceptor: &Interceptor, request: Option<&Value>) -> Value {
    let body = request.and_then(|request| request.get("body")).unwrap_or(&Value::Null);
    if body.is_array() {
        tracing::info!(code = "batch_refused", "request");
        return refusal("JSON-RPC batches are not accepted; send one message a request");
    }
    let method = body.get("method").and_then(Value::as_str).unwrap_or_default();
    let headers = request.and_then(|request| request.get("headers"));
    let assertion = match method {
        "tools/call" => assertion(interceptor, headers, body).await,
        _ => Err(Nobody::Refused("no call")),
    };
    let why = match assertion {
        Ok(_) => None,
        Err(Nobody::Refused(why)) => Some(why),
        Err(Nobody::Unverifiable) => Some("the issuer's keys cannot be had"),
    };
    tracing::info!(method = known(method), minted = assertion.is_ok(), why, "request");
    if assertion == Err(Nobody::Unverifiable) {
        return unverifiable(body.get("id"));
    }
    json!({
        "transformedGatewayRequest": {
            "headers": { HEADER: assertion.unwrap_or_else(|_| "-".to_owned()) },
            "body": body,
        }
    })
}

/// The assertion for one call, or why there is none.
async fn assertion(interceptor: &Interceptor, headers: Option<&Value>, body: &Value) -> Result<String, Nobody> {
    let tool = body.pointer("/params/name").and_then(Value::as_str).ok_or("no tool named")?;
    if tool.len() > LONGEST_NAME {
        return Err("the tool's name is too long".into());
    }
    let caller = interceptor.tokens.caller(bearer(headers).ok_or("no bearer token")?).await?;
    let minted = caller::mint(&interceptor.signer, &caller, &interceptor.gateway, tool, Timestamp::now());
    let minted = minted.map_err(|_| "the assertion could not be signed")?;
    if minted.len() > LONGEST_ASSERTION {
        return Err("the token names more than an assertion can carry; give the person fewer roles".into());
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

/// The answer to a call that goes no further since the issuer is not there. A tool would say that nobody is signed in,
/// and the agent would throw away a good token; so it is a failure as a tool puts it, and worth repeating.
fn unverifiable(id: Option<&Value>) -> Value {
    let failure = Failure::new(
        Code::TEMPORARILY_UNAVAILABLE,
        Retry::SameKey,
        "the identity provider's keys could not be fetched, so nobody can be recognized; nothing was done",
        "call again in a minute with the same arguments; if it persists, ask the platform team",
    );
    let text = json!(failure).to_string();
    let result = json!({ "content": [{ "type": "text", "text": text }], "isError": true, "resultType": "complete" });
    json!({
        "transformedGatewayResponse": {
            "statusCode": 200,
            "body": { "jsonrpc": "2.0", "id": id, "result": result },
        }
    })
}

fn refusal(message: &str) -> Value {
    json!({
        "transformedGatewayResponse": {
            "statusCode": 400,
            "body": { "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": message } },
        }
    })
}
