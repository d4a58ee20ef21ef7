//! The situations in which the tools refuse.

use std::time::Duration;

use countersign::bounded::Currency;
use countersign::change::{Change, Step};
use countersign::consent::Verdict;
use countersign::effect::Effect as _;
use countersign::hold;
use countersign::operation;
use futures::future::join_all;
use refunds::{Order, Refund};
use serde_json::{Value, json};
use tests::App;
use tests::app::{code, key, prepare, submit};
use tests::people::{consent_key, minutes_ago, proposal_key};

use crate::case::Case;

/// A refusal, and what it has to name beside its code.
pub(crate) struct Refusal {
    pub(crate) tool: &'static str,
    pub(crate) error: Value,
    pub(crate) field: Option<&'static str>,
    pub(crate) operation: Option<String>,
}

impl Refusal {
    const fn of(tool: &'static str, error: Value) -> Self {
        Self { tool, error, field: None, operation: None }
    }
}

impl Case<'_> {
    async fn refusal(&self, tool: &'static str, arguments: Value, about: &[&str]) -> Refusal {
        Refusal::of(tool, self.refused(tool, arguments, about).await)
    }

    async fn submission(&self, proposal: &str) -> Vec<Refusal> {
        vec![Refusal::of("submit_refund", self.submission_refused(proposal).await)]
    }

    /// A call of each tool that would be answered: nothing but the situation can be why it is refused.
    async fn good_calls(&self) -> [(&'static str, Value); 5] {
        let first = self.approved(5_000).await;
        let operation = self.succeeded(&first, &key()).await;
        [
            ("get_order_summary", json!({ "order_id": self.order.id })),
            ("prepare_refund", prepare(&self.order, 7_000)),
            ("submit_refund", submit(&self.approved(6_000).await, &key())),
            ("get_refund_status", json!({ "operation_id": operation })),
            ("cancel_refund", json!({ "operation_id": self.cancelled().await })),
        ]
    }

    /// A refund that was never sent, for the provider has no way to say it: the worker here is faster than any call that
    /// would cancel one.
    async fn cancelled(&self) -> String {
        let order = self.app.order("acme", Currency::Kwd, 2_001).await;
        let proposal = self.app.prepared_unchecked(&self.by, &order, 1_001).await.id.to_string();
        self.decide(&proposal, Verdict::Approval).await;
        let submitted = self.call("submit_refund", submit(&proposal, &key())).await;
        let operation = submitted["operation_id"].as_str().unwrap_or_else(|| panic!("{submitted}")).to_owned();
        self.app.until_as(&self.by, &operation, "cancelled").await;
        operation
    }

    async fn answered(&self, calls: &[(&'static str, Value)]) {
        for (tool, arguments) in calls {
            let answer = self.call(tool, arguments.clone()).await;
            assert_eq!(code(&answer), "ok", "{tool}: {answer}");
        }
    }
}

pub(crate) async fn outside_the_contract(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let mut preparation = prepare(&case.order, 1);
    preparation["amount_minor"] = json!(50_001);
    let submission = submit(&case.approved(1_000).await, "short");
    let rows = [
        ("get_order_summary", json!({ "order_id": "8F3K2" }), "order_id"),
        ("prepare_refund", preparation, "amount_minor"),
        ("submit_refund", submission, "idempotency_key"),
        ("get_refund_status", json!({}), "operation_id"),
        ("cancel_refund", json!({}), "operation_id"),
    ];
    let mut refusals = Vec::new();
    for (tool, arguments, field) in rows {
        let refusal = case.refusal(tool, arguments, &[]).await;
        refusals.push(Refusal { field: Some(field), ..refusal });
    }
    let currency = json!({ "order_id": case.order.id, "amount_minor": 1, "currency": "USD", "reason_code": "late" });
    let refusal = case.refusal("prepare_refund", currency, &[]).await;
    refusals.push(Refusal { field: Some("currency"), ..refusal });
    refusals
}

pub(crate) async fn nobody_calls(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let calls = case.good_calls().await;
    let answers = async {
        let raw = calls.iter().map(|(tool, arguments)| app.raw(tool, arguments.to_string(), None));
        join_all(raw).await.iter().map(|answer| serde_json::from_slice(answer).unwrap()).collect()
    };
    let errors = app.untouched(&[case.order.id.as_str()], answers).await;
    case.answered(&calls).await;
    refusals(&calls, errors)
}

pub(crate) async fn no_role(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let (calls, mut refusals) = (case.good_calls().await, Vec::new());
    let mut approver = case.by.clone();
    approver.roles.clone_from(&case.approver.0.roles);
    for (tool, arguments) in &calls {
        let error = app.refused(&approver, tool, arguments.clone(), &[case.order.id.as_str()]).await;
        refusals.push(Refusal::of(tool, error));
    }
    case.answered(&calls).await;
    refusals
}

pub(crate) async fn nothing_there(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let mut absent = prepare(&case.order, 1);
    absent["order_id"] = json!("ord_NOWHERE");
    vec![
        case.refusal("get_order_summary", json!({ "order_id": "ord_NOWHERE" }), &["ord_NOWHERE"]).await,
        case.refusal("prepare_refund", absent, &["ord_NOWHERE"]).await,
        case.refusal("submit_refund", submit(&format!("prop_{}", "a".repeat(26)), &key()), &[]).await,
        case.refusal("get_refund_status", json!({ "operation_id": format!("op_{}", "a".repeat(26)) }), &[]).await,
    ]
}

/// A hold stops everybody, so it has a gateway of its own.
pub(crate) async fn held() -> Vec<Refusal> {
    let app = App::start().await;
    let case = Case::new(&app).await;
    let (proposal, key) = (case.approved(1_000).await, key());
    let hold = hold::key(Refund::COMMAND).unwrap();
    app.put(&hold, tests::people::hold("reconciling with the provider")).await;
    let refusal = case.refusal("submit_refund", submit(&proposal, &key), &[&proposal]).await;
    app.delete(&hold).await;
    case.succeeded(&proposal, &key).await;
    app.gateway.shutdown().await;
    vec![refusal]
}

pub(crate) async fn too_much(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let (first, second) = (case.approved(12_000).await, case.approved(8_001).await);
    let preparation = case.refusal("prepare_refund", prepare(&case.order, 20_001), &[]).await;
    case.succeeded(&first, &key()).await;
    let mut refusals = case.submission(&second).await;
    refusals.push(preparation);
    refusals
}

pub(crate) async fn undecided(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    case.submission(&case.prepared(1_000).await).await
}

pub(crate) async fn rejected(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let proposal = case.prepared(1_000).await;
    case.decide(&proposal, Verdict::Rejection).await;
    case.submission(&proposal).await
}

pub(crate) async fn approval_lapsed(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let proposal = app.prepared_at(&case.by, &case.order, 1_000, minutes_ago(20)).await.id.to_string();
    app.decide_at(&case.approver, &proposal, Verdict::Approval, minutes_ago(16)).await.unwrap();
    case.submission(&proposal).await
}

pub(crate) async fn approval_of_another(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let (proposal, other) = (case.prepared(1_000).await, case.approved(2_000).await);
    let approval = app.item(&consent_key("acme", &other)).await.unwrap();
    app.put(&consent_key("acme", &proposal), approval).await;
    case.submission(&proposal).await
}

pub(crate) async fn revoked(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let proposal = case.approved(1_000).await;
    app.gateway.approvals().revoke(app.persona("acme-approver"), &proposal).await.unwrap();
    case.submission(&proposal).await
}

pub(crate) async fn proposal_lapsed(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let proposal = app.prepared_at(&case.by, &case.order, 1_000, minutes_ago(30)).await.id.to_string();
    app.decide_at(&case.approver, &proposal, Verdict::Approval, minutes_ago(10)).await.unwrap();
    case.submission(&proposal).await
}

pub(crate) async fn terms_moved(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let proposal = case.approved(1_000).await;
    let order = Order::key(&case.by.tenant, &case.order.id);
    app.commit(Change(vec![Step::update(order).set("status", "cancelled").add("terms_version", 1)])).await;
    case.submission(&proposal).await
}

pub(crate) async fn other_key(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let proposal = case.approved(1_000).await;
    let operation = case.succeeded(&proposal, &key()).await;
    let refusals = case.submission(&proposal).await;
    refusals.into_iter().map(|refusal| Refusal { operation: Some(operation.clone()), ..refusal }).collect()
}

pub(crate) async fn already_sent(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let operation = case.succeeded(&case.approved(1_000).await, &key()).await;
    app.until_as(&case.by, &operation, "succeeded").await;
    let refusal = case.refusal("cancel_refund", json!({ "operation_id": operation }), &[]).await;
    vec![Refusal { operation: Some(operation), ..refusal }]
}

pub(crate) async fn key_of_another(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let (first, second, key) = (case.approved(1_000).await, case.approved(2_000).await, key());
    let operation = case.succeeded(&first, &key).await;
    let refusal = case.refusal("submit_refund", submit(&second, &key), &[&first, &second]).await;
    vec![Refusal { operation: Some(operation), ..refusal }]
}

/// Less time than the half second that a call takes at the least.
pub(crate) async fn no_time(app: &App) -> Vec<Refusal> {
    apart(app, app.gateway.database_url(), Some(Duration::from_millis(490))).await
}

/// A port on which nobody listens any more.
pub(crate) async fn no_database(app: &App) -> Vec<Refusal> {
    let left = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    apart(app, format!("http://{left}"), None).await
}

async fn apart(app: &App, database: String, timeout: Option<Duration>) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let calls = case.good_calls().await;
    let apart = app.apart(database, timeout).await;
    let answers = async { join_all(calls.iter().map(|(tool, arguments)| apart.call(&case.by, tool, arguments))).await };
    let errors = app.untouched(&[case.order.id.as_str()], answers).await;
    apart.shutdown().await;
    // What the refusals say of a retry is so.
    case.answered(&calls).await;
    refusals(&calls, errors)
}

fn refusals(calls: &[(&'static str, Value)], errors: Vec<Value>) -> Vec<Refusal> {
    calls.iter().zip(errors).map(|((tool, _), error)| Refusal::of(tool, error)).collect()
}

pub(crate) async fn damaged_records(app: &App) -> Vec<Refusal> {
    let case = Case::new(app).await;
    let calls = case.good_calls().await;
    let proposal = calls[2].1["proposal_id"].as_str().unwrap();
    let damaged = [&calls[3], &calls[4]].map(|(_, arguments)| {
        let id = countersign::bounded::OperationId::parse(arguments["operation_id"].as_str().unwrap()).unwrap();
        Step::update(operation::key(&case.by.tenant, &id)).set("state", "somewhere")
    });
    // The amount was approved at 6,000: the record no longer is what its digest says.
    let intent = proposal_key("acme", proposal);
    let effect = app.item(&intent).await.unwrap().text("effect").unwrap().replace("6000", "9000");
    let order = Step::update(Order::key(&case.by.tenant, &case.order.id)).set("currency", "EURO");
    app.commit(Change(
        Vec::from([order, Step::update(intent).set("effect", effect)]).into_iter().chain(damaged).collect(),
    ))
    .await;
    let mut refusals = Vec::new();
    for (tool, arguments) in calls.clone() {
        refusals.push(case.refusal(tool, arguments, &[proposal]).await);
    }
    refusals
}
