//! The door: who gets in, from where, and who may decide.

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::json;
use tests::{App, run, shared};

/// A `ping`, with a token.
fn ping(app: &App) -> RequestBuilder {
    let token = app.gateway.token(app.persona("acme-agent")).unwrap();
    bare(app).bearer_auth(token)
}

/// The same without.
fn bare(app: &App) -> RequestBuilder {
    Client::new().post(app.gateway.mcp_url()).header("accept", "application/json, text/event-stream").json(&json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        },
    }))
}

async fn status(request: RequestBuilder) -> StatusCode {
    request.send().await.unwrap().status()
}

#[test]
fn only_loopback_hosts_and_origins_get_in() {
    run(async {
        let app = shared().await;
        assert_eq!(status(ping(app)).await, 200);
        let port = app.gateway.url().rsplit(':').next().unwrap().to_owned();
        for host in ["localhost".to_owned(), format!("localhost:{port}"), format!("127.0.0.1:{port}")] {
            assert_eq!(status(ping(app).header("host", &host)).await, 200, "{host}");
            assert_eq!(status(ping(app).header("origin", format!("http://{host}"))).await, 200, "{host}");
        }
        for name in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "0.0.0.0"] {
            assert_eq!(status(ping(app).header("host", format!("{name}:{port}"))).await, 403, "{name}");
            assert_eq!(status(ping(app).header("origin", format!("http://{name}:{port}"))).await, 403, "{name}");
        }
        for origin in ["null", "file://", "http://localhost@evil.example"] {
            assert_eq!(status(ping(app).header("origin", origin)).await, 403, "{origin}");
        }
    });
}

#[test]
fn without_a_sound_token_the_answer_is_401_and_the_way_to_one() {
    run(async {
        let app = shared().await;
        let mut forged = app.gateway.token(app.persona("acme-agent")).unwrap();
        let middle = forged.len() / 2;
        let other = if forged.as_bytes()[middle] == b'A' { "B" } else { "A" };
        forged.replace_range(middle..=middle, other);
        for request in [bare(app), bare(app).bearer_auth(forged), bare(app).basic_auth("acme-agent", Some("secret"))] {
            let response: Response = request.send().await.unwrap();
            assert_eq!(response.status(), 401);
            let challenge = response.headers()["www-authenticate"].to_str().unwrap();
            let metadata = challenge.split('"').find(|part| part.starts_with("http://")).unwrap().to_owned();
            let metadata: serde_json::Value = Client::new().get(metadata).send().await.unwrap().json().await.unwrap();
            assert_eq!(metadata["resource"], app.gateway.mcp_url());
        }
    });
}

#[test]
fn the_control_routes_are_for_whoever_can_read_the_control_token() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", countersign::bounded::Currency::Eur, 1_000).await;
        let proposal = app.prepared(&order, 1_000).await;
        let shown = app.gateway.approvals().show(app.persona("acme-approver"), &proposal).await.unwrap();
        let (url, client) = (format!("{}/control", app.gateway.url()), Client::new());
        let requests = || {
            let by = json!({ "persona": "acme-approver" });
            let decision = json!({ "persona": "acme-approver", "digest": shown.digest });
            let switch = json!({ "persona": "acme-operator", "reason": "the bank called" });
            [
                client.get(format!("{url}/proposals/{proposal}?persona=acme-approver")),
                client.post(format!("{url}/proposals/{proposal}/approve")).json(&decision),
                client.post(format!("{url}/proposals/{proposal}/reject")).json(&decision),
                client.post(format!("{url}/proposals/{proposal}/revoke")).json(&by),
                client.post(format!("{url}/tokens")).json(&by),
                client.post(format!("{url}/operators")).json(&by),
                client.post(format!("{url}/hold")).json(&switch),
                client.post(format!("{url}/release")).json(&switch),
                client.get(format!("{url}/holds")),
            ]
        };
        let agents = app.gateway.token(app.persona("acme-approver")).unwrap();
        let mut guessed = app.gateway.control_token().to_owned();
        guessed.pop();
        for request in requests() {
            let copy = || request.try_clone().unwrap();
            assert_eq!(status(copy()).await, 403);
            assert_eq!(status(copy().bearer_auth(&agents)).await, 403);
            for wrong in ["", "wrong", &guessed, &format!("{guessed}aa")] {
                assert_eq!(status(copy().header("x-countersign-control", wrong)).await, 403);
            }
        }
        let submitted = app.direct("acme-agent");
        let submitted = submitted.call("submit_refund", tests::app::submit(&proposal, &tests::app::key())).await;
        assert_eq!(tests::app::code(&submitted), "approval_required");
        // With the token the very same request decides.
        let [_, approve, ..] = requests();
        assert_eq!(status(approve.header("x-countersign-control", app.gateway.control_token())).await, 200);
    });
}
