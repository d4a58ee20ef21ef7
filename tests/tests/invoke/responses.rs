//! The interceptor's RESPONSE half: how a tool's answer is shaped for MCP clients.

use serde_json::{Value, json};
use tests::{App, run, shared};

use crate::interceptor::{event, intercepted, message};

/// What the RESPONSE half makes of a tool's result.
async fn shaped(app: &App, method: &str, result: Value) -> Value {
    let mut event = event(json!({}), message(method));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "result": result });
    event["mcp"]["gatewayResponse"] = json!({ "statusCode": 200, "headers": {}, "body": body });
    let mcp = intercepted(app, &event).await;
    let response = &mcp["transformedGatewayResponse"];
    assert_eq!((&response["statusCode"], &response["body"]["id"]), (&json!(200), &json!(1)), "{mcp}");
    response["body"]["result"].clone()
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": false })
}

#[test]
fn a_failure_becomes_an_error_of_text_alone_and_an_answer_structured_content_with_its_text() {
    run(async {
        let app = shared().await;
        let failure = r#"{"error":{"code":"held","message":"m","next_step":"n","retry":"later"}}"#;
        let mut expected = text(failure);
        expected["isError"] = json!(true);
        assert_eq!(shaped(app, "tools/call", text(failure)).await, expected);
        let answer = r#"{"state":"queued","amount_minor":9007199254740993}"#;
        let mut expected = text(answer);
        expected["structuredContent"] = json!({ "state": "queued", "amount_minor": 9_007_199_254_740_993_i64 });
        assert_eq!(shaped(app, "tools/call", text(answer)).await, expected);
    });
}

#[test]
fn what_is_no_tool_s_answer_is_left_as_it_is() {
    run(async {
        let app = shared().await;
        let function_error =
            json!({ "content": [{ "type": "text", "text": "An internal error occurred." }], "isError": true });
        let structured_looking =
            json!({ "content": [{ "type": "text", "text": r#"{"state":"succeeded"}"# }], "isError": true });
        for result in [
            function_error,
            structured_looking,
            text("no JSON"),
            text("[1]"),
            text("\"text\""),
            json!({ "content": [] }),
            Value::Null,
        ] {
            assert_eq!(shaped(app, "tools/call", result.clone()).await, result);
        }
        let listed = text(r#"{"error":"a list is no call"}"#);
        assert_eq!(shaped(app, "tools/list", listed.clone()).await, listed);
    });
}
