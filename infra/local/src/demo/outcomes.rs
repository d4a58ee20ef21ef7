//! What else can become of a refund: a reply that got lost, a change of mind in time, a provider that refuses.

use std::time::Duration;

use serde_json::json;

use super::Error;
use super::report::Report;
use super::steps::{approved, submission};
use crate::client::Client;
use crate::gateway::Gateway;
use crate::provider::{Behavior, WebhookBehavior};

const ORDER: &str = "ord_USD01";
const PAYMENT: &str = "pi_acme_USD01";
const PAID: i64 = 90_000;
/// How long something may take here before the demonstration gives up: looks, and the wait between two.
const LOOKS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(50);

pub(super) async fn run(gateway: &Gateway, agent: &Client, report: &mut Report) -> Result<(), Error> {
    lost_reply(gateway, agent, report).await?;
    in_time(gateway, agent, report).await?;
    declined(gateway, agent, report).await?;
    books(gateway, agent, report).await
}

/// The provider makes the refund, and the connection breaks before its answer.
async fn lost_reply(gateway: &Gateway, agent: &Client, report: &mut Report) -> Result<(), Error> {
    // Nor does it tell by an event, which would be found out at once.
    gateway.provider().webhook_script(WebhookBehavior::Never);
    gateway.provider().script(PAYMENT, Behavior::DropAfter);
    let operation = submitted(gateway, agent, 40_000, "demo-refund-key-0003").await?;
    let state = ended(agent, &operation, &["unknown"]).await?;
    let got = format!("{operation} {state}: the provider's reply was lost");
    report.step("get_refund_status", "unknown", &got, state == "unknown");

    gateway.sweep().await;
    let state = ended(agent, &operation, &["succeeded", "failed", "needs_operator"]).await?;
    let effects = refunds(gateway, 40_000);
    let got = format!("asked the provider: {state}, {effects} refund of 40000 usd");
    report.step("(reconciliation)", "succeeded, with one effect", &got, state == "succeeded" && effects == 1);
    Ok(())
}

/// The agent takes its word back before the worker has heard of it.
async fn in_time(gateway: &Gateway, agent: &Client, report: &mut Report) -> Result<(), Error> {
    gateway.delay_streams(true);
    let operation = submitted(gateway, agent, 30_000, "demo-refund-key-0004").await?;
    let cancelled = agent.call("cancel_refund", json!({ "operation_id": operation })).await?;
    gateway.delay_streams(false);
    let effects = refunds(gateway, 30_000);
    let got = format!("{} in time, {effects} refunds of 30000 usd", cancelled.text("state"));
    report.step(
        "cancel_refund",
        "cancelled, without effect",
        &got,
        cancelled.text("state") == "cancelled" && effects == 0,
    );
    Ok(())
}

async fn declined(gateway: &Gateway, agent: &Client, report: &mut Report) -> Result<(), Error> {
    gateway.provider().script(PAYMENT, Behavior::Decline);
    let operation = submitted(gateway, agent, 20_000, "demo-refund-key-0005").await?;
    let state = ended(agent, &operation, &["succeeded", "failed"]).await?;
    let status = agent.call("get_refund_status", json!({ "operation_id": operation })).await?;
    let got = format!("{state}: {}, the provider refused", status.text("reason"));
    report.step("get_refund_status", "failed, and why", &got, state == "failed" && !status.text("reason").is_empty());
    Ok(())
}

/// In the end only what really moved is gone.
async fn books(gateway: &Gateway, agent: &Client, report: &mut Report) -> Result<(), Error> {
    let order = agent.call("get_order_summary", json!({ "order_id": ORDER })).await?;
    let balance = |name: &str| order.value.get(name).and_then(serde_json::Value::as_i64).unwrap_or(-1);
    let (refundable, reserved) = (balance("refundable_minor"), balance("reserved_minor"));
    let refunded = balance("refunded_minor");
    let moved: i64 = gateway.provider().effects(PAYMENT).iter().map(|refund| refund.amount).sum();
    let got =
        format!("{ORDER} refunded {refunded}, reserved {reserved}, refundable {refundable}; the provider: {moved}");
    let ok = (refunded, reserved, refundable, moved) == (40_000, 0, PAID - 40_000, 40_000);
    report.step("get_order_summary", "as the provider has it", &got, ok);
    Ok(())
}

/// Prepares a refund, has a person approve it on the page, and submits it.
async fn submitted(gateway: &Gateway, agent: &Client, amount: i64, key: &str) -> Result<String, Error> {
    let arguments =
        json!({ "order_id": ORDER, "amount_minor": amount, "currency": "USD", "reason_code": "not_received" });
    let prepared = agent.call("prepare_refund", arguments).await?;
    let proposal = prepared.text("proposal_id").to_owned();
    approved(gateway, &proposal).await?.map_err(|status| format!("the page answered {status}"))?;
    let accepted = agent.call("submit_refund", submission(&proposal, key)).await?;
    Ok(accepted.text("operation_id").to_owned())
}

/// Looks until an operation is in one of these states; where it stands then.
async fn ended(agent: &Client, operation: &str, states: &[&str]) -> Result<String, Error> {
    let mut state = String::new();
    for _ in 0..LOOKS {
        let status = agent.call("get_refund_status", json!({ "operation_id": operation })).await?;
        status.text("state").clone_into(&mut state);
        if states.contains(&state.as_str()) {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(state)
}

fn refunds(gateway: &Gateway, amount: i64) -> usize {
    gateway.provider().effects(PAYMENT).iter().filter(|refund| refund.amount == amount).count()
}
