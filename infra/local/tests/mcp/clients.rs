//! Real clients of both protocol generations.

use std::{collections::HashMap, sync::Arc};

use http::{HeaderName, HeaderValue};
use rmcp::{
    RoleClient, ServiceError,
    model::{CallToolRequestParams, ClientCapabilities, ClientConfig, ErrorCode, Implementation, ProtocolVersion},
    service::{ClientLifecycleMode, ClientServiceExt, RunningService},
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::{Value, json};

use crate::double::{Double, TOOL, arguments, contract, endpoint};

type Client = RunningService<RoleClient, ClientConfig>;

/// A client of a generation, with a token and a caller header of its own invention.
async fn connect(url: &str, token: &str, lifecycle: ClientLifecycleMode) -> Client {
    let forged = HashMap::from([(
        HeaderName::from_static("x-countersign-caller"),
        HeaderValue::from_static("caller:somebody-else"),
    )]);
    let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(token).custom_headers(forged);
    let me = ClientConfig::new(ClientCapabilities::default(), Implementation::new("test", "1.0.0"));
    me.serve_with_lifecycle(StreamableHttpClientTransport::from_config(config), lifecycle).await.unwrap()
}

fn old() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

fn new() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

fn call(name: &'static str) -> CallToolRequestParams {
    CallToolRequestParams::new(name).with_arguments(arguments().as_object().unwrap().clone())
}

/// What every client sees and gets, whatever its generation.
async fn lists_and_calls(lifecycle: ClientLifecycleMode, version: &str) {
    let functions = Arc::new(Double::sound());
    let client = connect(&endpoint(&functions).await, "agent", lifecycle).await;
    let server = client.peer_info().unwrap();
    assert_eq!(server.protocol_version.as_str(), version);
    assert_eq!(server.server_info.as_ref().unwrap().name, "countersign-local");

    let tools = client.list_all_tools().await.unwrap();
    let mut expected = contract();
    expected["name"] = json!(TOOL);
    for unlisted in ["version", "tier", "maxResponseBytes"] {
        expected.as_object_mut().unwrap().remove(unlisted);
    }
    assert_eq!(json!(tools), json!([expected]));

    let result = client.call_tool(call(TOOL)).await.unwrap();
    assert_eq!(result.is_error, Some(false));
    let answer = json!({ "operation_id": "op_1", "state": "queued" });
    assert_eq!(result.structured_content, Some(answer.clone()));
    let text: Value = serde_json::from_str(&result.content[0].as_text().unwrap().text).unwrap();
    assert_eq!(text, answer);

    let invocations = functions.invocations();
    assert_eq!(invocations.len(), 1);
    assert_eq!(invocations[0].function, "submit_refund");
    assert_eq!(invocations[0].payload, arguments());
    let propagated = &invocations[0].context["custom"]["bedrockAgentCorePropagatedHeaders"];
    assert_eq!(propagated, &json!({ "x-countersign-caller": "caller:agent" }));
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_client_of_2025_11_25_lists_and_calls() {
    lists_and_calls(old(), "2025-11-25").await;
}

#[tokio::test]
async fn a_client_of_2026_07_28_lists_and_calls() {
    lists_and_calls(new(), "2026-07-28").await;
}

#[tokio::test]
async fn an_unknown_tool_is_invalid_params() {
    for lifecycle in [old(), new()] {
        let functions = Arc::new(Double::sound());
        let client = connect(&endpoint(&functions).await, "agent", lifecycle).await;
        let error = client.call_tool(call("submit_refund")).await.unwrap_err();
        assert!(matches!(&error, ServiceError::McpError(error) if error.code == ErrorCode::INVALID_PARAMS), "{error}");
        assert!(functions.invocations().is_empty());
        client.cancel().await.unwrap();
    }
}

#[tokio::test]
async fn callers_are_told_apart_by_the_token_of_each_call() {
    let functions = Arc::new(Double::sound());
    let url = endpoint(&functions).await;
    for (token, lifecycle) in [("first", old()), ("second", old()), ("third", new())] {
        let client = connect(&url, token, lifecycle).await;
        client.call_tool(call(TOOL)).await.unwrap();
        let propagated =
            functions.invocations().pop().unwrap().context["custom"]["bedrockAgentCorePropagatedHeaders"].take();
        assert_eq!(propagated, json!({ "x-countersign-caller": format!("caller:{token}") }));
        client.cancel().await.unwrap();
    }
}
