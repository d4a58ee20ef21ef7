//! Clients that are too large, too slow or too many, and what the others notice of them.

use std::time::Duration;

use futures::future::join_all;
use local::listener::PATIENCE;
use reqwest::Client;
use serde_json::json;
use tests::{App, run, shared};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::time::{Instant, interval, timeout};

/// A message of about so many bytes, with a token.
async fn post(app: &App, bytes: usize) -> u16 {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "x".repeat(bytes), "version": "1" },
        },
    });
    let request = Client::new().post(app.gateway.mcp_url()).bearer_auth(token(app)).json(&body);
    let answer = request.header("accept", "application/json, text/event-stream").send().await.unwrap();
    answer.status().as_u16()
}

fn token(app: &App) -> String {
    app.gateway.token(app.persona("acme-agent")).unwrap()
}

/// Whether an agent gets its answer.
async fn answered(agent: &local::client::Client) {
    let order = timeout(Duration::from_secs(5), agent.call("get_order_summary", json!({ "order_id": "ord_8F3K2" })));
    assert_eq!(order.await.expect("the gateway does not answer").unwrap().code(), "ok");
}

#[test]
fn a_message_over_the_size_cap_is_413_and_the_next_call_works() {
    run(async {
        let app = shared().await;
        let agent = app.client("acme-agent").await;
        for (bytes, status) in [(1_000_000, 200), (1_048_576, 413), (20_000_000, 413)] {
            assert_eq!(post(app, bytes).await, status, "{bytes}");
            answered(&agent).await;
        }
        assert_eq!(post(app, 10).await, 200);
        agent.close().await;
    });
}

/// Sends a byte a second until the other side has had enough.
async fn drip(mut to: OwnedWriteHalf) {
    let mut seconds = interval(Duration::from_secs(1));
    loop {
        seconds.tick().await;
        if to.write_all(b"x").await.is_err() {
            return;
        }
    }
}

/// Begins with these bytes and goes on by drips, or not at all; gives what came back until the connection's end, and
/// when that was.
async fn slow(address: &str, begin: &str, drips: bool) -> (String, Duration) {
    let begun = Instant::now();
    let (mut from, mut to) = TcpStream::connect(address).await.unwrap().into_split();
    to.write_all(begin.as_bytes()).await.unwrap();
    let mut came = Vec::new();
    let read = async {
        // A reset is an end too.
        let _ = from.read_to_end(&mut came).await;
    };
    if drips {
        tokio::select! {
            () = read => {}
            () = async { drip(to).await; std::future::pending().await } => {}
        }
    } else {
        read.await;
    }
    (String::from_utf8_lossy(&came).into_owned(), begun.elapsed())
}

#[test]
fn slow_clients_are_cut_off_and_leave_the_gateway_to_the_others() {
    run(async {
        let app = shared().await;
        let agent = app.client("acme-agent").await;
        let address = app.gateway.url().trim_start_matches("http://").to_owned();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n",
            token(app)
        );
        let body = format!("{head}content-length: 1000\r\n\r\n{{");
        let kinds = [("", false), (head.as_str(), false), (head.as_str(), true), (&body, false), (&body, true)];
        let slow = kinds.iter().cycle().take(50).map(|(begin, drips)| async {
            let (came, after) = timeout(PATIENCE * 2, slow(&address, begin, *drips)).await.expect("still connected");
            let by_the_bound = after > PATIENCE / 2 && after < PATIENCE + Duration::from_secs(5);
            assert!(by_the_bound, "{after:?} {came}");
            let refused = came.starts_with("HTTP/1.1 408 ");
            assert_eq!(refused, *begin == body, "{came}");
        });
        let others = async {
            let begun = Instant::now();
            let mut calls = 0;
            while begun.elapsed() < PATIENCE {
                answered(&agent).await;
                calls += 1;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            assert!(calls > 20, "{calls} calls in {PATIENCE:?}");
        };
        tokio::join!(join_all(slow), others);
        answered(&agent).await;
        agent.close().await;
    });
}

#[test]
fn two_hundred_calls_at_once_are_all_answered() {
    run(async {
        let app = shared().await;
        let agents = join_all((0..10).map(|_| app.client("acme-agent"))).await;
        let calls = agents.iter().cycle().take(200).enumerate().map(|(call, agent)| async move {
            // Reads, and refusals that never reach a function.
            let (order, code) = if call % 4 == 0 { ("#", "invalid_input") } else { ("ord_8F3K2", "ok") };
            let answer = agent.call("get_order_summary", json!({ "order_id": order })).await.unwrap();
            assert_eq!(answer.code(), code);
        });
        timeout(Duration::from_secs(30), join_all(calls)).await.expect("some were never answered");
        for agent in agents {
            agent.close().await;
        }
    });
}
