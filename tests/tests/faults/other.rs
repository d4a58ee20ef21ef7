//! The other tenant: refunds that nothing happens to, through the same processes at the same time.

use countersign::bounded::Currency;
use countersign::consent::Verdict;
use local::lambda::Invoked;
use serde_json::{Value, json};
use tests::App;
use tests::app::{key, prepare, submit};
use tests::worker::{WORKER, stream_event};

use crate::report;

/// One refund of `globex`, from end to end.
pub(crate) async fn refund(app: &App) {
    let order = app.order("globex", Currency::Eur, 900).await;
    let agent = app.direct("globex-agent");
    let prepared = agent.call("prepare_refund", prepare(&order, 900)).await;
    let proposal = prepared["proposal_id"].as_str().unwrap_or_else(|| panic!("{prepared}"));
    app.decide("globex-approver", proposal, Verdict::Approval).await.unwrap();
    let submitted = agent.call("submit_refund", submit(proposal, &key())).await;
    let operation = submitted["operation_id"].as_str().unwrap_or_else(|| panic!("{submitted}"));
    let event = stream_event(operation).to_string().replace("#acme#", "#globex#");
    let delivered = app.gateway.lambda().invoke(WORKER, event.into(), None).await;
    assert!(matches!(delivered, Invoked::Answered(_)), "{delivered:?}");
    let status = agent.call("get_refund_status", json!({ "operation_id": operation })).await;
    assert_eq!(status["state"], "succeeded", "{status}");
    for answer in [prepared.clone(), submitted.clone(), status.clone()] {
        assert!(!Value::to_string(&answer).contains("acme"), "{answer}");
    }
    assert_eq!(app.effects(&order), 1);
    report::add("refunds of another tenant alongside");
}

/// No line that a function logged speaks of both tenants, and none of a panic.
pub(crate) fn logs(app: &App) {
    let lines = app.logs();
    for line in &lines {
        assert!(!(line.contains("globex") && line.contains("acme")), "{line}");
        assert!(!line.contains("panicked"), "{line}");
    }
    report::put("log lines searched for the other tenant", lines.len());
}
