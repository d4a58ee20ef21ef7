//! The interceptor under what a client, or a gateway that tries again, could put before it.

use countersign::caller::HEADER;
use countersign::tool::full_name;
use local::gateway::GATEWAY_ID;
use local::lambda::{Invoked, MAX_PAYLOAD_BYTES};
use serde_json::{Value, json};
use tests::{App, run, shared};

use crate::interceptor::{TOOL, bearer, event, header, intercepted, message, token, verified};

/// An answer of the tool's as the gateway shows it to the RESPONSE half.
fn answered(method: &str, body: Value) -> Value {
    let mut event = event(json!({}), message(method));
    event["mcp"]["gatewayResponse"] = json!({ "statusCode": 200, "headers": {}, "body": body });
    event
}

fn result(text: &str) -> Value {
    let result = json!({ "content": [{ "type": "text", "text": text }], "isError": false });
    json!({ "jsonrpc": "2.0", "id": 1, "result": result })
}

/// What the interceptor decides, with who is named in the place of the assertion, which differs from call to call.
async fn decision(app: &App, event: &Value) -> Value {
    let mut mcp = intercepted(app, event).await;
    let Some(request) = mcp.get_mut("transformedGatewayRequest") else { return mcp };
    let headers = request["headers"].as_object_mut().unwrap();
    assert_eq!(headers.keys().collect::<Vec<_>>(), [HEADER], "the header is set on every message that goes on");
    let header = headers[HEADER].as_str().unwrap().to_owned();
    if header != "-" {
        let caller = verified(app, &header, GATEWAY_ID, &full_name(TOOL)).unwrap();
        headers.insert(HEADER.to_owned(), json!(caller));
    }
    mcp
}

#[test]
fn a_message_that_comes_again_is_decided_as_before() {
    run(async {
        let app = shared().await;
        let good = bearer(&token(app));
        let failure = r#"{"error":{"code":"held","message":"m","next_step":"n","retry":"later"}}"#;
        let no_tool = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32602, "message": "no such tool" } });
        let rows = [
            ("a call", event(good.clone(), message("tools/call"))),
            ("a call of nobody's", event(json!({}), message("tools/call"))),
            ("a call with a bad token", event(bearer("a.b.c"), message("tools/call"))),
            ("a list", event(good.clone(), message("tools/list"))),
            ("a list of nobody's", event(json!({}), message("tools/list"))),
            ("a handshake", event(good.clone(), message("initialize"))),
            ("a notification", event(good.clone(), json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))),
            ("a batch", event(good.clone(), json!([message("tools/call")]))),
            ("a success", answered("tools/call", result(r#"{"state":"queued"}"#))),
            ("a failure", answered("tools/call", result(failure))),
            ("an error", answered("tools/call", no_tool)),
            (
                "a list of tools",
                answered("tools/list", json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [] } })),
            ),
            ("a success that was shaped before", {
                let once = intercepted(app, &answered("tools/call", result(r#"{"state":"queued"}"#))).await;
                answered("tools/call", once["transformedGatewayResponse"]["body"].clone())
            }),
        ];
        for (name, event) in rows {
            let first = decision(app, &event).await;
            for _ in 0..3 {
                assert_eq!(decision(app, &event).await, first, "{name}");
            }
        }
    });
}

#[test]
fn an_event_as_large_as_lambda_takes_is_decided_like_any_other() {
    run(async {
        let app = shared().await;
        for size in [1_000, 1_000_000, MAX_PAYLOAD_BYTES - 2_000] {
            let mut body = message("tools/call");
            body["params"]["arguments"]["a"] = json!("x".repeat(size));
            for (headers, expected) in [(bearer(&token(app)), json!(app.caller("acme-agent"))), (json!({}), json!("-"))]
            {
                let mut event = event(headers, body.clone());
                // It would hold the same once more.
                event["mcp"]["rawGatewayRequest"]["body"] = json!("");
                let decided = decision(app, &event).await;
                assert_eq!(decided["transformedGatewayRequest"]["headers"][HEADER], expected, "{size}");
                assert_eq!(decided["transformedGatewayRequest"]["body"], body);
            }
            let mut batch = event(json!({}), json!(vec![0; size / 2]));
            batch["mcp"]["rawGatewayRequest"]["body"] = json!("");
            assert_eq!(decision(app, &batch).await["transformedGatewayResponse"]["statusCode"], 400, "{size}");
        }
        for headers in [
            bearer(&"x".repeat(3_000_000)),
            bearer(&format!("{}.{}.{}", "A".repeat(500_000), "A".repeat(500_000), "A".repeat(500_000))),
            (0..50_000).map(|number| (format!("x-{number}"), json!("v"))).collect(),
        ] {
            assert_eq!(header(app, headers).await, "-");
        }
    });
}

#[test]
fn an_event_deeper_than_json_is_read_goes_no_further_and_takes_no_process_along() {
    run(async {
        let app = shared().await;
        let mut deep = message("tools/call");
        deep["params"]["arguments"] = serde_json::from_str(&format!("{}{}", "[".repeat(100), "]".repeat(100))).unwrap();
        let decided = decision(app, &event(bearer(&token(app)), deep.clone())).await;
        assert_eq!(decided["transformedGatewayRequest"]["headers"][HEADER], json!(app.caller("acme-agent")));
        assert_eq!(decided["transformedGatewayRequest"]["body"], deep);
        for depth in [200, 10_000, 1_000_000] {
            for (open, close) in [("[", "]"), (r#"{"a":"#, "1}"), ("[", "")] {
                let body = format!("{}{}", open.repeat(depth), &close[..close.len().min(1)].repeat(depth));
                let event = event(json!({}), json!("BODY")).to_string().replace(r#""BODY""#, &body);
                match app.gateway.lambda().invoke("interceptor", event.into(), None).await {
                    Invoked::FunctionError { kind, message } => {
                        assert!(!kind.contains("Exit") && !kind.contains("Timedout"), "{kind}: {message}");
                    }
                    other => panic!("{depth}: {other:?}"),
                }
            }
        }
        let text = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for text in [text.clone(), format!(r#"{{"a":{text}}}"#)] {
            let event = answered("tools/call", result(&text));
            let passed = intercepted(app, &event).await["transformedGatewayResponse"]["body"].clone();
            assert_eq!(passed, result(&text), "what nobody can read stays as it is");
        }
    });
}

#[test]
fn a_tool_of_whatever_name_gets_an_assertion_for_that_name_or_none() {
    run(async {
        let app = shared().await;
        for name in
            ["\"".repeat(256), "\\".repeat(256), "\u{0}".repeat(256), "é".repeat(128), "\u{202e}a\r\nb".to_owned()]
        {
            let mut body = message("tools/call");
            body["params"]["name"] = json!(name);
            let mcp = intercepted(app, &event(bearer(&token(app)), body)).await;
            let header = mcp["transformedGatewayRequest"]["headers"][HEADER].as_str().unwrap();
            assert!(header.len() <= 2_000 && header.is_ascii(), "{header}");
            assert!(header == "-" || verified(app, header, GATEWAY_ID, &name).is_ok(), "{name:?}");
            assert!(verified(app, header, GATEWAY_ID, &full_name(TOOL)).is_err());
        }
    });
}
