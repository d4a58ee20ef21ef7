//! A gateway's life: what it leaves on disk, how it ends, and what a `kill -9` cannot take from it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use local::client::Client;
use serde_json::{Value, json};
use tests::app::{key, submit};
use tests::process::{Process, children, folder, gone, succeeded};
use tests::run;

/// Prepares a refund as an agent and approves it as a person.
async fn approved(gateway: &Process, agent: &Client, amount: i64) -> String {
    let arguments = json!({
        "order_id": "ord_8F3K2", "amount_minor": amount, "currency": "EUR", "reason_code": "damaged",
    });
    let proposal = agent.call("prepare_refund", arguments).await.unwrap().text("proposal_id").to_owned();
    let ran = gateway.ran(&["approve", &proposal, "--as", "acme-approver", "--yes"]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    proposal
}

/// The amounts of the refunds in the provider's journal.
fn refunded(folder: &Path) -> Vec<i64> {
    let journal = std::fs::read_to_string(folder.join("provider.jsonl")).unwrap();
    let lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| line["refund"]["amount"].as_i64()).collect()
}

/// Whether a worker has begun to send the operation and was killed with the gateway: only its lease is left then.
async fn was_begun(agent: &Client, operation: &str) -> bool {
    for _ in 0..200 {
        let status = agent.call("get_refund_status", json!({ "operation_id": operation })).await.unwrap();
        assert_eq!(status.code(), "ok", "{status:?}");
        match status.text("state") {
            "succeeded" => return false,
            state => assert!(["queued", "sending"].contains(&state), "{state}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    true
}

#[test]
fn what_was_acknowledged_survives_a_kill_and_is_refunded_once() {
    run(async {
        let folder = folder();
        let mut port = 0;
        let mut begun = 0;
        // Where the kill hits the moment of sending, the refund is rightly left alone for as long as its lease runs.
        // Another one is tried then; that moment is short.
        for amount in 1_001..1_006 {
            let mut gateway = Process::start(folder.path(), port).await;
            // The same port, since the issuer of the tokens is named after it.
            port = gateway.port();
            let agent = gateway.client("acme-agent").await;
            let (proposal, key) = (approved(&gateway, &agent, amount).await, key());
            let receipt = agent.call("submit_refund", submit(&proposal, &key)).await.unwrap();
            gateway.end("KILL").await;
            assert_eq!(receipt.code(), "ok", "{receipt:?}");
            drop(agent);

            let mut gateway = Process::start(folder.path(), port).await;
            let agent = gateway.client("acme-agent").await;
            let again = agent.call("submit_refund", submit(&proposal, &key)).await.unwrap();
            assert_eq!((again.code(), &again.value["replayed"]), ("ok", &json!(true)), "{again:?}");
            assert_eq!(again.value["operation_id"], receipt.value["operation_id"]);
            if was_begun(&agent, receipt.text("operation_id")).await {
                begun += 1;
                gateway.end("KILL").await;
                continue;
            }
            assert_eq!(refunded(folder.path()).iter().filter(|refunded| **refunded == amount).count(), 1);
            let order = agent.call("get_order_summary", json!({ "order_id": "ord_8F3K2" })).await.unwrap().value;
            let balance = |name: &str| order[name].as_i64().unwrap();
            assert_eq!(balance("refunded_minor"), amount);
            assert_eq!(balance("refundable_minor") + balance("reserved_minor") + amount, 12_900);
            agent.close().await;
            return;
        }
        panic!("{begun} kills in a row hit the moment of sending");
    });
}

#[test]
fn ctrl_c_ends_the_gateway_and_every_process_that_it_started() {
    run(async {
        for signal in ["INT", "TERM"] {
            let folder = folder();
            let mut gateway = Process::start(folder.path(), 0).await;
            let agent = gateway.client("acme-agent").await;
            let proposal = approved(&gateway, &agent, 1_000).await;
            let receipt = agent.call("submit_refund", submit(&proposal, &key())).await.unwrap();
            succeeded(&agent, receipt.text("operation_id")).await;

            let started = children(gateway.id());
            for name in ["interceptor", "prepare_refund", "submit_refund", "get_refund_st", "dispatch_refun"] {
                assert!(started.values().any(|other| other.starts_with(name)), "{name} is not among {started:?}");
            }
            // The agent stays connected: its open stream must not keep the gateway.
            let ended = tokio::time::timeout(Duration::from_secs(10), gateway.end(signal)).await;
            assert_eq!(ended.expect("the gateway does not end"), Some(0));
            gone(started.into_keys()).await;
            assert!(!folder.path().join("run.json").exists());
        }
    });
}

#[test]
fn a_kill_of_the_gateway_leaves_no_process_behind() {
    run(async {
        let folder = folder();
        let mut gateway = Process::start(folder.path(), 0).await;
        let agent = gateway.client("acme-agent").await;
        agent.call("get_order_summary", json!({ "order_id": "ord_8F3K2" })).await.unwrap();
        let started = children(gateway.id());
        assert!(started.len() >= 2, "{started:?}");
        gateway.end("KILL").await;
        gone(started.into_keys()).await;
    });
}

#[test]
fn keys_and_notes_are_for_their_owner_alone() {
    run(async {
        let folder = folder();
        let home = folder.path().join("made-by-the-gateway");
        let gateway = Process::start(&home, 0).await;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&home), 0o700);
        let keys: Vec<_> = std::fs::read_dir(home.join("keys")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(keys.len(), 4, "{keys:?}");
        for path in keys.iter().chain([&home.join("run.json"), &home.join("functions.log"), &home.join("lock")]) {
            assert_eq!(mode(path), 0o600, "{}", path.display());
        }
        assert_eq!(gateway.run()["pid"], gateway.id());
    });
}
