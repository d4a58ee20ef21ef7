//! Claims: what a tool's hints say about it is true of the tables and of the provider.

use std::collections::BTreeMap;

use countersign::bounded::Currency;
use serde_json::{Value, json};
use tests::app::{code, key, prepare, submit};
use tests::dump::changed;
use tests::worker::Submitted;
use tests::{App, run};

/// The hints of a tool as a client is told them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hints {
    read_only: bool,
    destructive: bool,
    idempotent: bool,
    open_world: bool,
}

/// Every tool that the gateway lists, by its own name.
async fn hints(app: &App) -> BTreeMap<String, Hints> {
    let agent = app.client("acme-agent").await;
    let tools = serde_json::to_value(agent.tools().await.unwrap()).unwrap();
    agent.close().await;
    let read = |tool: &Value| {
        let name = tool["name"].as_str().unwrap().split_once("___").unwrap().1.to_owned();
        let hint = |name: &str| tool["annotations"][name].as_bool().unwrap();
        let hints = Hints {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        };
        (name, hints)
    };
    tools.as_array().unwrap().iter().map(read).collect()
}

/// What one call did.
struct Did {
    changed: Vec<String>,
    asked_the_provider: bool,
}

/// Calls a tool over MCP on a gateway where nothing else happens, and lets the worker do what follows from it.
async fn call(app: &App, tool: &str, arguments: &Value, expected: &str) -> (Value, Did) {
    let (before, requests) = (app.dump().await, app.gateway.provider().requests().len());
    let agent = app.client("acme-agent").await;
    let answer = agent.call(tool, arguments.clone()).await.unwrap().value;
    agent.close().await;
    assert_eq!(code(&answer), expected, "{tool} {arguments}: {answer}");
    if let Some(operation) = answer["operation_id"].as_str() {
        app.deliver(operation).await;
    }
    let changed = changed(&before, &app.dump().await);
    let asked_the_provider = app.gateway.provider().requests().len() > requests;
    (answer, Did { changed, asked_the_provider })
}

/// Calls with which a tool succeeds and is refused, in a world where it can: arguments and the expected code.
async fn calls(app: &App, tool: &str) -> Vec<(Value, &'static str)> {
    let order = app.order("acme", Currency::Eur, 5_000).await;
    match tool {
        "cancel_refund" => {
            let refund = app.submitted(&order, 1_000).await;
            let sent = app.submitted(&order, 2_000).await;
            app.deliver(&sent.operation).await;
            let of = |refund: &Submitted| json!({ "operation_id": refund.operation });
            vec![(of(&refund), "ok"), (of(&sent), "too_late_to_cancel")]
        }
        "get_order_summary" => {
            vec![(json!({ "order_id": order.id }), "ok"), (json!({ "order_id": "ord_NONE" }), "not_found")]
        }
        "get_refund_status" => {
            let refund = app.submitted(&order, 1_000).await;
            let absent = json!({ "operation_id": "op_aaaaaaaaaaaaaaaaaaaaaaaaaa" });
            app.deliver(&refund.operation).await;
            vec![(json!({ "operation_id": refund.operation }), "ok"), (absent, "not_found")]
        }
        "prepare_refund" => {
            vec![(prepare(&order, 1_000), "ok"), (prepare(&order, 5_001), "exceeds_refundable")]
        }
        "submit_refund" => {
            let unapproved = app.prepared(&order, 2_000).await;
            let approved = app.approved(&order, 1_000).await;
            vec![(submit(&approved, &key()), "ok"), (submit(&unapproved, &key()), "approval_required")]
        }
        other => panic!("say here how `{other}` is called, so that its hints can be verified"),
    }
}

#[test]
fn the_hints_of_every_tool_are_true() {
    run(async {
        let app = App::quiet().await;
        let tools = hints(&app).await;
        assert!(!tools.is_empty());
        for (tool, claimed) in tools {
            for (arguments, expected) in calls(&app, &tool).await {
                let (_, first) = call(&app, &tool, &arguments, expected).await;
                let succeeded = expected == "ok";
                assert_eq!(first.changed.is_empty(), claimed.read_only || !succeeded, "{tool}: {:?}", first.changed);
                assert_eq!(first.asked_the_provider, claimed.open_world && succeeded, "{tool}");
                // What can be changed back no worse than by letting it lapse: a proposal and its twin.
                let harmless = |key: &String| key.starts_with("intent#") || key.starts_with("twin#");
                let destroyed = !first.changed.iter().all(harmless);
                assert_eq!(destroyed, claimed.destructive && succeeded, "{tool}: {:?}", first.changed);

                let (_, second) = call(&app, &tool, &arguments, expected).await;
                assert!(claimed.idempotent, "{tool}");
                assert!(second.changed.is_empty() && !second.asked_the_provider, "{tool}: {:?}", second.changed);
            }
        }
        app.stop().await;
    });
}

#[test]
fn a_tool_that_reads_says_so_and_one_that_moves_money_says_so() {
    run(async {
        let app = App::quiet().await;
        let reads = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
        let prepares = Hints { read_only: false, ..reads };
        let submits = Hints { read_only: false, destructive: true, idempotent: true, open_world: true };
        let expected = [
            ("cancel_refund", Hints { open_world: false, ..submits }),
            ("get_order_summary", reads),
            ("get_refund_status", reads),
            ("prepare_refund", prepares),
            ("submit_refund", submits),
        ];
        let claimed = hints(&app).await;
        for (tool, hints) in expected {
            assert_eq!(claimed[tool], hints, "{tool}");
        }
        app.stop().await;
    });
}
