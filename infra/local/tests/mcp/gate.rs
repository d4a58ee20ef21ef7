//! What the door turns away, seen by a client that speaks plain HTTP.

use std::sync::Arc;

use http::StatusCode;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::double::{Double, Interceptor, TOOL, arguments, endpoint, endpoint_for};

/// A `tools/call` of the 2026 generation, complete but for its token.
pub(crate) fn tools_call(url: &str, arguments: &Value) -> RequestBuilder {
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": TOOL,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1.0.0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    post(url, &body)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", TOOL)
}

fn post(url: &str, body: &Value) -> RequestBuilder {
    Client::new().post(url).header("accept", "application/json, text/event-stream").json(body)
}

/// The JSON-RPC message of an answer, which may come as an event stream.
pub(crate) async fn message(response: Response) -> Value {
    let text = response.text().await.unwrap();
    let json = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).find(|data| !data.is_empty());
    serde_json::from_str(json.unwrap_or(&text)).unwrap()
}

#[tokio::test]
async fn a_complete_call_is_answered_with_a_complete_result() {
    let functions = Arc::new(Double::sound());
    let url = endpoint(&functions).await;
    let response = tools_call(&url, &arguments()).bearer_auth("agent").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let answer = json!({ "operation_id": "op_1", "state": "queued" });
    let result = message(response).await["result"].take();
    assert_eq!(result["structuredContent"], answer);
    // Without it, strict clients of this generation throw the answer away.
    assert_eq!(result["resultType"], "complete");
}

#[tokio::test]
async fn a_request_without_a_token_is_shown_the_way_to_one() {
    let functions = Arc::new(Double::sound());
    let url = endpoint(&functions).await;
    let http = Client::new();
    let without = [
        tools_call(&url, &arguments()),
        post(&url, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })),
        tools_call(&url, &arguments()).header("authorization", "Basic YTpi"),
        tools_call(&url, &arguments()).bearer_auth("agent").bearer_auth("other"),
        http.get(&url).header("accept", "text/event-stream"),
        http.delete(&url).header("mcp-session-id", "any"),
    ];
    for request in without {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        let challenge = response.headers()["www-authenticate"].to_str().unwrap();
        assert!(challenge.starts_with("Bearer "), "{challenge}");
        let metadata = "resource_metadata=\"http://issuer.test/.well-known/oauth-protected-resource\"";
        assert!(challenge.contains(metadata), "{challenge}");
    }
    assert!(functions.invocations().is_empty());
}

#[tokio::test]
async fn a_token_that_the_authorizer_refuses_is_invalid() {
    let functions = Arc::new(Double::sound());
    let url = endpoint_for(&functions, Arc::new(|token| token == "agent")).await;
    let refused = tools_call(&url, &arguments()).bearer_auth("expired").send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert!(refused.headers()["www-authenticate"].to_str().unwrap().contains("error=\"invalid_token\""));
    let taken = tools_call(&url, &arguments()).bearer_auth("agent").send().await.unwrap();
    assert_eq!(taken.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_foreign_page_or_name_is_forbidden() {
    let functions = Arc::new(Double::sound());
    let url = endpoint(&functions).await;
    let headers = [
        ("origin", "https://evil.example"),
        ("origin", "http://localhost.evil.example"),
        ("origin", "http://127.0.0.1@evil.example"),
        ("origin", "null"),
        ("host", "evil.example"),
    ];
    for (name, value) in headers {
        let request = tools_call(&url, &arguments()).bearer_auth("agent").header(name, value);
        assert_eq!(request.send().await.unwrap().status(), StatusCode::FORBIDDEN, "{name}: {value}");
    }
    let local = tools_call(&url, &arguments()).bearer_auth("agent").header("origin", "http://localhost:6274");
    assert_eq!(local.send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn a_body_of_more_than_a_megabyte_is_too_large() {
    let functions = Arc::new(Double::sound());
    let url = endpoint(&functions).await;
    let large = json!({ "proposal_id": "x".repeat(local::mcp::MAX_REQUEST_BYTES) });
    let response = tools_call(&url, &large).bearer_auth("agent").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_batch_is_refused() {
    let functions = Arc::new(Double::sound());
    let url = endpoint(&functions).await;
    let batch = json!([{ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }]);
    let response = post(&url, &batch).bearer_auth("agent").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(message(response).await["error"]["code"], -32600);
}

#[tokio::test]
async fn a_callers_header_of_the_clients_own_never_reaches_the_function() {
    let functions = Arc::new(Double::sound());
    let url = endpoint(&functions).await;
    for name in ["x-countersign-caller", "X-Countersign-Caller"] {
        let request = tools_call(&url, &arguments()).bearer_auth("agent").header(name, "caller:somebody-else");
        assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
    }
    let invocations = functions.invocations();
    assert_eq!(invocations.len(), 2);
    for invocation in invocations {
        assert!(!invocation.context.to_string().contains("somebody-else"));
        assert!(invocation.context.to_string().contains("caller:agent"));
    }
}

#[tokio::test]
async fn a_call_whose_interceptor_fails_or_names_nobody_is_refused() {
    for broken in [Interceptor::Fails, Interceptor::NamesNobody] {
        let functions = Arc::new(Double::sound().with(broken));
        let url = endpoint(&functions).await;
        let forged = tools_call(&url, &arguments()).bearer_auth("agent").header("x-countersign-caller", "caller:me");
        let answer = message(forged.send().await.unwrap()).await;
        assert_eq!(answer["error"]["code"], -32603);
        assert_eq!(answer["id"], 7);
        assert!(!answer.to_string().contains("secret"));
        assert!(functions.invocations().is_empty());
    }
}

#[tokio::test]
async fn the_interceptors_own_answer_is_returned_at_once() {
    let functions = Arc::new(Double::sound());
    let url = endpoint(&functions).await;
    let response = tools_call(&url, &arguments()).bearer_auth("stranger").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert_eq!(response.headers()["x-why"], "strange");
    assert_eq!(message(response).await["error"]["message"], "who are you");
    assert!(functions.invocations().is_empty());
}
