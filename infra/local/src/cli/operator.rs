//! What an operator does: sees what needs a person, and says what became of it, over the function that takes their word.

use std::path::Path;
use std::process::ExitCode;

use countersign::bounded::OperationId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::control::{As, Operator};

use super::remote::{Remote, agreed, listed, show};
use super::{Attention, Resolve, Stop, beside, say, tell, words};

/// Lists what needs a person, or shows one operation.
pub(super) async fn attention(folder: &Path, attention: &Attention) -> Result<ExitCode, Stop> {
    let remote = Remote::of(folder)?;
    let Attention { operation, persona, after } = attention;
    if let Some(operation) = operation {
        let shown = look(&remote, persona, operation).await?;
        say(&listed(&format!("operation {operation}"), &lines(&shown)));
        return Ok(ExitCode::SUCCESS);
    }
    let query: Vec<_> = after.iter().map(|place| ("after", place.to_string())).collect();
    let Operator { url, token } = enter(&remote, persona).await?;
    let page: Value = remote.send(remote.client.get(url).query(&query).bearer_auth(token)).await?;
    let rows: Vec<&Value> = page.get("operations").and_then(Value::as_array).into_iter().flatten().collect();
    let next = page.get("next").and_then(Value::as_str);
    if rows.is_empty() && next.is_none() {
        say("nothing needs a person");
        return Ok(ExitCode::SUCCESS);
    }
    say(&table(&rows));
    let beside = beside(folder);
    if let Some(next) = next {
        tell(&format!("there is more: cargo local attention --as {persona} --after {next}{beside}"));
    }
    tell(&format!("look at one: cargo local attention OPERATION --as {persona}{beside}"));
    Ok(ExitCode::SUCCESS)
}

/// Shows an operation and what the outcome would do, asks, and says it.
pub(super) async fn resolve(folder: &Path, resolve: &Resolve) -> Result<ExitCode, Stop> {
    let remote = Remote::of(folder)?;
    let Resolve { operation, persona, outcome, evidence, yes } = resolve;
    let shown = look(&remote, persona, operation).await?;
    let foretold = foretold(&shown, outcome.as_str()).unwrap_or(&Value::Null);
    if let Some(refused) = words::refusal(foretold) {
        return Err(refused.into());
    }
    let mut lines = lines(&shown);
    lines.push(("you say".to_owned(), format!("{outcome}: {evidence}")));
    show(&format!("operation {operation}"), &lines);
    if !yes && !agreed(&format!("{operation} {outcome}, as {persona}, for good?"))? {
        tell("nothing was changed");
        return Ok(ExitCode::FAILURE);
    }
    let version = shown.pointer("/operation/version");
    let body = json!({
        "operation_id": operation, "outcome": outcome, "evidence": evidence.as_str(), "version": version,
    });
    // A person takes longer to answer than a token lives.
    let Operator { url, token } = enter(&remote, persona).await?;
    let answer: Value = remote.send(remote.client.post(url).bearer_auth(token).json(&body)).await?;
    let state = answer.get("state").and_then(Value::as_str).unwrap_or_default();
    say(&format!("{operation}: {state}"));
    Ok(ExitCode::SUCCESS)
}

async fn enter(remote: &Remote, persona: &str) -> Result<Operator, Stop> {
    let by = As { persona: persona.to_owned() };
    remote.send(remote.request(Method::POST, "operators").json(&by)).await
}

async fn look(remote: &Remote, persona: &str, operation: &OperationId) -> Result<Value, Stop> {
    let Operator { url, token } = enter(remote, persona).await?;
    remote.send(remote.client.get(url).query(&[("operation_id", operation)]).bearer_auth(token)).await
}

fn foretold<'a>(shown: &'a Value, outcome: &str) -> Option<&'a Value> {
    shown.get("outcomes")?.as_array()?.iter().find(|foretold| text(foretold, "outcome") == outcome)
}

/// An operation as a person is shown it.
fn lines(shown: &Value) -> Vec<(String, String)> {
    let operation = shown.get("operation").unwrap_or(&Value::Null);
    let of = |name| text(operation, name);
    let mut lines = vec![
        ("refund", of("amount")),
        ("order", of("order_id")),
        ("proposal", of("proposal_id")),
        ("payment", format!("{} at {} ({})", of("payment"), of("account"), of("mode"))),
        ("asked for by", format!("{}, approved by {}", of("requester"), of("approver"))),
        ("state", state(operation)),
        ("waits since", of("waiting_since")),
        ("reason", of("reason")),
        ("attempts", of("attempts")),
        ("found as", of("reference")),
        ("said before", of("resolution")),
        ("the order has", shown.get("order").map(balances).unwrap_or_default()),
    ];
    for (outcome, label) in [("succeeded", "if succeeded"), ("failed", "if failed")] {
        let foretold = foretold(shown, outcome);
        lines.push((label, foretold.map(consequence).unwrap_or_default()));
    }
    lines.into_iter().filter(|(_, line)| !line.is_empty()).map(|(label, line)| (label.to_owned(), line)).collect()
}

fn consequence(foretold: &Value) -> String {
    match words::refusal(foretold) {
        Some(refused) => refused,
        None => {
            format!("{}; then {}", text(foretold, "state"), foretold.get("order").map(balances).unwrap_or_default())
        }
    }
}

fn balances(order: &Value) -> String {
    let of = |name| text(order, name);
    if order.is_null() {
        return "no record".to_owned();
    }
    let frozen = if of("conflicts") == "0" { "" } else { ", and is frozen" };
    format!("{} refundable, {} reserved, {} refunded{frozen}", of("refundable"), of("reserved"), of("refunded"))
}

fn state(operation: &Value) -> String {
    let conflict = operation.get("conflict").and_then(Value::as_bool).unwrap_or_default();
    format!("{}{}", text(operation, "state"), if conflict { ", in conflict with the provider" } else { "" })
}

/// Rows under their headings, each column as wide as it needs to be.
fn table(rows: &[&Value]) -> String {
    let row = |row: &&Value| {
        let state = if row.get("conflict") == Some(&json!(true)) { "conflict".to_owned() } else { text(row, "state") };
        [
            text(row, "operation_id"),
            text(row, "order_id"),
            text(row, "amount"),
            state,
            text(row, "waiting_since"),
            text(row, "reason"),
        ]
    };
    let heads = ["OPERATION", "ORDER", "AMOUNT", "STATE", "SINCE", "WHY"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heads).chain(rows.iter().map(row)).collect();
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &[String; 6]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A member as a person reads it, nothing of which moves the cursor.
fn text(value: &Value, name: &str) -> String {
    let text = match value.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.replace('\n', "; "),
        Some(other) => other.to_string(),
    };
    words::visible(&text)
}
