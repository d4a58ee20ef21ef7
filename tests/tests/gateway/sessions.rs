//! Sessions of the older protocol: each is for whoever opened it.

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use tests::{App, run, shared};

/// A request at the endpoint, in a session if one is named.
fn request(app: &App, method: Method, persona: &str, session: Option<&str>) -> RequestBuilder {
    let request = Client::new().request(method, app.gateway.mcp_url());
    let request = request
        .bearer_auth(app.gateway.token(app.persona(persona)).unwrap())
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-11-25");
    match session {
        Some(session) => request.header("mcp-session-id", session),
        None => request,
    }
}

fn post(app: &App, persona: &str, session: Option<&str>, message: &Value) -> RequestBuilder {
    request(app, Method::POST, persona, session).json(message)
}

async fn opened(app: &App, persona: &str) -> String {
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } },
    });
    let response = post(app, persona, None, &hello).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(app, persona, Some(&session), &ready).send().await.unwrap().status(), 202);
    session
}

#[test]
fn a_session_is_as_good_as_unknown_to_whoever_did_not_open_it() {
    run(async {
        let app = shared().await;
        let session = opened(app, "acme-agent").await;
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        // A token that was issued later is the same person's.
        assert_eq!(post(app, "acme-agent", Some(&session), &list).send().await.unwrap().status(), 200);
        for stranger in ["globex-agent", "acme-approver", "acme-operator"] {
            let attempts = |session: &str| {
                [
                    post(app, stranger, Some(session), &list),
                    post(
                        app,
                        stranger,
                        Some(session),
                        &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
                    ),
                    post(app, stranger, Some(session), &json!({ "jsonrpc": "2.0", "id": 3, "result": {} })),
                    request(app, Method::GET, stranger, Some(session)),
                    request(app, Method::DELETE, stranger, Some(session)),
                ]
            };
            let unknown = attempts("00000000-0000-4000-8000-000000000000");
            for (foreign, unknown) in attempts(&session).into_iter().zip(unknown) {
                let (foreign, unknown) = (foreign.send().await.unwrap(), unknown.send().await.unwrap());
                // Ending what is not there is no failure, and ends nothing.
                let ended = foreign.status() == 202;
                assert!(foreign.status() == 404 || ended, "{stranger}: {foreign:?}");
                assert_eq!(foreign.status(), unknown.status(), "{stranger}: {foreign:?}");
                assert_eq!(foreign.text().await.unwrap(), unknown.text().await.unwrap());
            }
        }
        // It is still there.
        assert_eq!(post(app, "acme-agent", Some(&session), &list).send().await.unwrap().status(), 200);
        let end = request(app, Method::DELETE, "acme-agent", Some(&session)).send().await.unwrap();
        assert!(end.status().is_success(), "{end:?}");
        assert_eq!(post(app, "acme-agent", Some(&session), &list).send().await.unwrap().status(), 404);
    });
}
