//! The steps of the demonstration, in order.

use std::time::Duration;

use serde_json::json;

use super::report::Report;
use super::{Error, outcomes};
use crate::client::{Answer, Client};
use crate::gateway::{Gateway, PAGE};
use crate::visitor::Visitor;

const ORDER: &str = "ord_8F3K2";
/// Who decides.
const PERSON: &str = "acme-approver";
const KEY: &str = "demo-refund-key-0001";
const OTHER_KEY: &str = "demo-refund-key-0002";
/// How long settling may take here before the demonstration gives up: looks, and the wait between two.
const LOOKS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(50);

pub(super) async fn run(
    gateway: &Gateway,
    agent: &Client,
    stranger: &Client,
    report: &mut Report,
) -> Result<(), Error> {
    list(agent, report).await?;
    read(agent, report).await?;
    let proposal = prepare(agent, report).await?;
    too_early(agent, &proposal, report).await?;
    approve(gateway, &proposal, report).await?;
    let operation = submit(agent, &proposal, report).await?;
    settle(agent, &operation, report).await?;
    other_tenant(stranger, &operation, report).await?;
    provider(gateway, report);
    outcomes::run(gateway, agent, report).await
}

async fn list(agent: &Client, report: &mut Report) -> Result<(), Error> {
    let tools = agent.tools().await?;
    let complete = tools.iter().filter(|tool| {
        let hints = tool.annotations.as_ref();
        tool.title.is_some()
            && tool.output_schema.is_some()
            && hints.is_some_and(|hints| {
                hints.read_only_hint.is_some()
                    && hints.destructive_hint.is_some()
                    && hints.idempotent_hint.is_some()
                    && hints.open_world_hint.is_some()
            })
    });
    let (all, complete) = (tools.len(), complete.count());
    let got = format!("{all} tools, {complete} with title, both schemas and all four hints");
    report.step("tools/list", "every tool complete, at least 5", &got, all >= 5 && complete == all);
    Ok(())
}

async fn read(agent: &Client, report: &mut Report) -> Result<(), Error> {
    let order = agent.call("get_order_summary", json!({ "order_id": ORDER })).await?;
    let refundable = order.value.get("refundable_minor").and_then(serde_json::Value::as_i64);
    let note = order.value.pointer("/untrusted_text/customer_note").is_some();
    let got = format!("{ORDER} {} refundable {}", order.text("currency"), refundable.unwrap_or(-1));
    let expected = "EUR 12900 refundable, the customer's note apart under untrusted_text";
    report.step("get_order_summary", expected, &got, refundable == Some(12_900) && note);
    Ok(())
}

async fn prepare(agent: &Client, report: &mut Report) -> Result<String, Error> {
    let arguments = json!({
        "order_id": ORDER, "amount_minor": 12_900, "currency": "EUR", "reason_code": "damaged",
    });
    let prepared = agent.call("prepare_refund", arguments).await?;
    let proposal = prepared.text("proposal_id").to_owned();
    let got = format!("proposal {proposal}, nothing moved yet");
    report.step("prepare_refund", "a proposal", &got, prepared.code() == "ok");
    Ok(proposal)
}

pub(super) fn submission(proposal: &str, key: &str) -> serde_json::Value {
    json!({ "proposal_id": proposal, "idempotency_key": key })
}

async fn too_early(agent: &Client, proposal: &str, report: &mut Report) -> Result<(), Error> {
    let refused = agent.call("submit_refund", submission(proposal, KEY)).await?;
    let got = format!("{}: nobody has approved it", refused.code());
    report.step("submit_refund", "approval_required", &got, refused.code() == "approval_required");
    Ok(())
}

async fn approve(gateway: &Gateway, proposal: &str, report: &mut Report) -> Result<(), Error> {
    let (said, got) = match approved(gateway, proposal).await? {
        Ok(said) => (true, said),
        Err(status) => (false, format!("the page answered {status}")),
    };
    report.step("(a person)", "acme-approver signs an approval on the page", &got, said);
    Ok(())
}

/// A person signs in on the page, reads the proposal and approves it; the page's status where it was not taken.
pub(super) async fn approved(gateway: &Gateway, proposal: &str) -> Result<Result<String, u16>, Error> {
    let page = gateway.http_url(PAGE).ok_or("there is no approval page")?;
    let person = Visitor::new()?;
    let shown = person.sign_in(&format!("{page}/proposals/{proposal}"), PERSON).await?;
    let decided = person.submit(&shown, "/approve", &[]).await?;
    let said = decided.body.lines().any(|line| line.contains(&format!("{PERSON} approved it")));
    let digest: String = shown.value("digest").unwrap_or_default().chars().take(8).collect();
    let what = format!("{PERSON} signed approval of digest {digest}…, on the page at {page}");
    Ok(if said { Ok(what) } else { Err(decided.status) })
}

async fn submit(agent: &Client, proposal: &str, report: &mut Report) -> Result<String, Error> {
    let first = agent.call("submit_refund", submission(proposal, KEY)).await?;
    let operation = first.text("operation_id").to_owned();
    let fresh = first.value.get("replayed") == Some(&json!(false));
    let got = format!("{operation} {}", first.text("state"));
    report.step("submit_refund", "accepted, replayed: false", &got, first.code() == "ok" && fresh);

    let again = agent.call("submit_refund", submission(proposal, KEY)).await?;
    let replayed = again.value.get("replayed") == Some(&json!(true));
    let same = receipt(&first) == receipt(&again);
    let got = format!("same key: same receipt, replayed: {replayed}");
    report.step("submit_refund", "the same receipt, replayed: true", &got, again.code() == "ok" && same && replayed);

    let other = agent.call("submit_refund", submission(proposal, OTHER_KEY)).await?;
    let named = other.value.pointer("/error/operation_id") == Some(&json!(operation));
    let got = format!("other key: {} names {}", other.code(), if named { &operation } else { "nothing" });
    let ok = other.code() == "proposal_already_submitted" && named;
    report.step("submit_refund", "proposal_already_submitted, the same operation", &got, ok);
    Ok(operation)
}

/// What of an answer never changes.
fn receipt(answer: &Answer) -> Vec<Option<&serde_json::Value>> {
    ["operation_id", "proposal_id", "order_id", "amount_minor", "currency", "accepted_at"]
        .map(|name| answer.value.get(name))
        .to_vec()
}

async fn settle(agent: &Client, operation: &str, report: &mut Report) -> Result<(), Error> {
    let mut seen: Vec<String> = Vec::new();
    for _ in 0..LOOKS {
        let status = agent.call("get_refund_status", json!({ "operation_id": operation })).await?;
        let state = status.text("state").to_owned();
        if seen.last() != Some(&state) {
            seen.push(state);
        }
        if seen.last().is_some_and(|state| state == "succeeded" || state == "failed") {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    let ok = seen.last().is_some_and(|state| state == "succeeded");
    report.step("get_refund_status", "succeeded", &seen.join(" → "), ok);
    Ok(())
}

async fn other_tenant(stranger: &Client, operation: &str, report: &mut Report) -> Result<(), Error> {
    let refused = stranger.call("get_refund_status", json!({ "operation_id": operation })).await?;
    let got = format!("{}: what is another tenant's is not there", refused.code());
    report.step("get_refund_status", "not_found for globex", &got, refused.code() == "not_found");
    Ok(())
}

fn provider(gateway: &Gateway, report: &mut Report) {
    let refunds = gateway.provider().effects("pi_acme_8F3K2");
    let sums: Vec<String> = refunds.iter().map(|refund| format!("{} {}", refund.amount, refund.currency)).collect();
    let got = format!("{} refund at the payment provider: {}", refunds.len(), sums.join(", "));
    report.step("(the provider)", "exactly one refund: 12900 eur", &got, sums == ["12900 eur"]);
}
