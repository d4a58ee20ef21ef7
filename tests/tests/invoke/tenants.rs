//! Tenants and principals: what is another's is not there, in no answer and in no line of the log.

use countersign::bounded::Currency;
use countersign::caller::Caller;
use countersign::consent::Verdict;
use refunds::Order;
use serde_json::{Value, json};
use tests::app::{code, key, prepare, submit};
use tests::direct::client_context;
use tests::people::minutes_ago;
use tests::{App, run, shared};

use crate::case::Case;

/// What a tool answers, byte for byte.
async fn answered(app: &App, by: &Caller, tool: &str, arguments: &Value) -> String {
    let context = client_context(tool, &app.assertion(by, tool));
    let answer = app.raw(tool, arguments.to_string(), Some(context)).await;
    String::from_utf8(answer.to_vec()).unwrap()
}

/// A call of each tool about these records.
fn calls(order: &str, proposal: &str, operation: &str) -> [(&'static str, Value); 5] {
    let preparation = json!({ "order_id": order, "amount_minor": 100, "currency": "EUR", "reason_code": "late" });
    [
        ("get_order_summary", json!({ "order_id": order })),
        ("prepare_refund", preparation),
        ("submit_refund", submit(proposal, &key())),
        ("get_refund_status", json!({ "operation_id": operation })),
        ("cancel_refund", json!({ "operation_id": operation })),
    ]
}

fn absent() -> [(&'static str, Value); 5] {
    calls("ord_NOWHERE", &format!("prop_{}", "a".repeat(26)), &format!("op_{}", "a".repeat(26)))
}

#[test]
fn what_is_another_tenant_s_and_what_is_not_there_are_answered_with_the_same_bytes() {
    run(async {
        let case = Case::new(shared().await).await;
        let operation = case.succeeded(&case.approved(1_000).await, &key()).await;
        let proposal = case.approved(2_000).await;
        let stranger = case.app.requester("globex");
        let foreign = calls(case.order.id.as_str(), &proposal, &operation);
        for ((tool, foreign), (_, absent)) in foreign.iter().zip(absent()) {
            let answer = answered(case.app, &stranger, tool, foreign).await;
            assert!(answer.contains("not_found"), "{tool}: {answer}");
            assert_eq!(answer, answered(case.app, &stranger, tool, &absent).await, "{tool}");
            let own = answered(case.app, &case.by, tool, foreign).await;
            assert!(!own.contains("not_found"), "for its own tenant it is there: {tool}: {own}");
        }
    });
}

#[test]
fn one_order_id_is_a_different_order_in_each_tenant() {
    run(async {
        let app = shared().await;
        for (tenant, currency, captured) in [("acme", "EUR", 12_900), ("globex", "USD", 9_900)] {
            let by = app.direct_as(app.requester(tenant));
            let order = by.call("get_order_summary", json!({ "order_id": "ord_8F3K2" })).await;
            assert_eq!((&order["currency"], &order["captured_minor"]), (&json!(currency), &json!(captured)), "{order}");
        }
        let globex = app.direct_as(app.requester("globex"));
        let euros = json!({ "order_id": "ord_8F3K2", "amount_minor": 9_901, "currency": "EUR", "reason_code": "late" });
        assert_eq!(globex.call("prepare_refund", euros.clone()).await["error"]["field"], "currency");
        let mut dollars = euros;
        dollars["currency"] = json!("USD");
        assert_eq!(code(&globex.call("prepare_refund", dollars).await), "exceeds_refundable");
    });
}

#[test]
fn one_key_names_a_different_operation_for_each_principal_and_each_tenant() {
    run(async {
        let app = shared().await;
        let (one, other) = (Case::new(app).await, Case::new(app).await);
        let key = key();
        let mine = one.succeeded(&one.approved(1_000).await, &key).await;
        let theirs = other.succeeded(&other.approved(1_000).await, &key).await;
        assert_ne!(mine, theirs);
        let mut twin = one.by.clone();
        twin.tenant = app.caller("globex-agent").tenant;
        let order = app.order("globex", Currency::Eur, 5_000).await;
        let proposal = app.prepared_at(&twin, &order, 1_000, minutes_ago(0)).await.id.to_string();
        app.decide("globex-approver", &proposal, Verdict::Approval).await.unwrap();
        let answer = app.direct_as(twin).call("submit_refund", submit(&proposal, &key)).await;
        assert_eq!(answer["replayed"], false, "{answer}");
        assert_ne!(answer["operation_id"], mine);
    });
}

/// Whether it is open, lapsed or used up is no stranger's business either.
#[test]
fn a_proposal_of_another_principal_is_not_there_in_whatever_state_it_is() {
    run(async {
        let case = Case::new(shared().await).await;
        let (app, colleague) = (case.app, case.app.requester("acme"));
        let lapsed = app.prepared_at(&case.by, &case.order, 4_000, minutes_ago(40)).await.id.to_string();
        let (open, rejected) = (case.approved(1_000).await, case.prepared(2_000).await);
        case.decide(&rejected, Verdict::Rejection).await;
        let used = case.approved(3_000).await;
        case.succeeded(&used, &key()).await;
        let absent = answered(app, &colleague, "submit_refund", &absent()[2].1).await;
        for proposal in [&open, &rejected, &lapsed, &used] {
            let answer = answered(app, &colleague, "submit_refund", &submit(proposal, &key())).await;
            assert_eq!(answer, absent);
        }
        let mut other_issuer = case.by.clone();
        other_issuer.issuer = countersign::bounded::Issuer::parse("https://issuer.example").unwrap();
        let answer = answered(app, &other_issuer, "submit_refund", &submit(&open, &key())).await;
        assert_eq!(answer, absent, "the same name from another issuer is somebody else");
        case.succeeded(&open, &key()).await;
    });
}

#[test]
fn an_operation_is_shown_to_its_requester_and_to_an_operator_of_the_tenant_alone() {
    run(async {
        let case = Case::new(shared().await).await;
        let app = case.app;
        let operation = case.succeeded(&case.approved(1_000).await, &key()).await;
        let arguments = json!({ "operation_id": operation });
        let own = answered(app, &case.by, "get_refund_status", &arguments).await;
        assert!(own.contains("succeeded"), "{own}");
        assert_eq!(answered(app, &app.caller("acme-operator"), "get_refund_status", &arguments).await, own);
        let mut other_agent = case.by.clone();
        other_agent.actor = None;
        assert_eq!(answered(app, &other_agent, "get_refund_status", &arguments).await, own, "it is the person's");
        let mut stranger = app.caller("acme-operator");
        stranger.tenant = app.caller("globex-agent").tenant;
        for by in [app.requester("acme"), stranger] {
            let answer = answered(app, &by, "get_refund_status", &arguments).await;
            assert_eq!(answer, answered(app, &by, "get_refund_status", &absent()[3].1).await, "{by:?}");
        }
    });
}

#[test]
fn nothing_of_one_tenant_s_calls_is_in_another_s_answers_or_log_lines() {
    run(async {
        let case = Case::new(shared().await).await;
        let (app, note, key) = (case.app, "the cup arrived in two pieces", key());
        let mut order = case.order.clone();
        order.customer_note = Some(note.to_owned());
        app.put(&Order::key(&case.by.tenant, &order.id), order.item()).await;
        let summary = case.call("get_order_summary", json!({ "order_id": order.id })).await;
        assert_eq!(summary["untrusted_text"]["customer_note"], note);
        let proposal = case.approved(1_000).await;
        let operation = case.succeeded(&proposal, &key).await;

        let stranger = app.requester("globex");
        let theirs = app.order("globex", Currency::Eur, 5_000).await;
        let mut answers = Vec::new();
        let about_ours = calls(order.id.as_str(), &proposal, &operation);
        let about_theirs =
            [("get_order_summary", json!({ "order_id": theirs.id })), ("prepare_refund", prepare(&theirs, 7))];
        for (tool, arguments) in about_ours.iter().chain(&about_theirs) {
            answers.push(answered(app, &stranger, tool, arguments).await);
        }

        let ours = [
            order.id.as_str(),
            order.payment.as_str(),
            &proposal,
            &operation,
            case.by.principal.as_str(),
            case.approver.0.principal.as_str(),
            note,
            &key,
            r#""acme""#,
            "acct_acme",
        ];
        let (our_lines, their_lines) = (lines(app, &case.by, 5).await, lines(app, &stranger, 6).await);
        for text in answers.iter().chain(&their_lines) {
            for value in ours {
                assert!(!text.contains(value), "{value} in {text}");
            }
        }
        for text in &our_lines {
            for value in [theirs.id.as_str(), stranger.principal.as_str(), r#""globex""#] {
                assert!(!text.contains(value), "{value} in {text}");
            }
            for never in [note, order.id.as_str(), &key, "eyJ"] {
                assert!(!text.contains(never), "arguments, notes, keys and tokens are not logged: {text}");
            }
        }
    });
}

/// The lines about a caller's calls, once there are so many.
async fn lines(app: &App, by: &Caller, calls: usize) -> Vec<String> {
    let principal = format!(r#""principal":"{}""#, by.principal);
    for _ in 0..1_000 {
        let lines: Vec<String> = app.logs().into_iter().filter(|line| line.contains(&principal)).collect();
        if lines.len() >= calls {
            return lines;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("no {calls} lines about {principal}");
}
