//! What an operator is shown of operations and of the orders behind them, as JSON.

use countersign::bounded::{Currency, IntentId, Nonce, OperationId, Principal};
use countersign::clock::Timestamp;
use countersign::delivery::{Looked, Waiting};
use countersign::failure::Failure;
use countersign::item::Item;
use countersign::operation::{Operation, State};
use refunds::{Mode, Order, OrderId, PaymentReference, ProviderAccount, Refund};
use serde::Serialize;
use serde_json::{Value, json};

/// A refund.
#[derive(Serialize)]
struct Row<'a> {
    operation_id: &'a OperationId,
    /// As it is on record, whatever it names.
    proposal_id: &'a IntentId,
    order_id: &'a OrderId,
    /// As a person reads it.
    amount: String,
    amount_minor: i64,
    currency: Currency,
    state: State,
    conflict: bool,
    /// Since when it waits for a person; `null` where it waits for nobody.
    waiting_since: Option<Timestamp>,
    /// Why it failed, was cancelled or needs somebody.
    reason: Option<&'a str>,
    attempts: i64,
    account: &'a ProviderAccount,
    mode: Mode,
    payment: &'a PaymentReference,
    /// What the provider calls the refund, where it was seen there.
    reference: Option<&'a str>,
    requester: &'a Principal,
    approver: &'a Principal,
    accepted_at: Timestamp,
    /// What operators have said about it before, a line each.
    resolution: Option<&'a str>,
    /// Names what is shown here, so that a decision can be about nothing else.
    version: &'a Nonce,
}

/// An order's balances as a person reads them.
#[derive(Serialize)]
struct Balances {
    refundable: String,
    reserved: String,
    refunded: String,
    /// How many refunds of it are in conflict; while there are any, nothing more of it is refunded.
    conflicts: i64,
}

/// A page of the list.
pub(crate) fn list(page: &Waiting<Refund>) -> Value {
    let rows: Vec<_> = page.operations.iter().map(row).collect();
    json!({ "operations": rows, "next": page.next.as_ref().map(ToString::to_string) })
}

/// One operation, its order, and what either word about it would come to.
pub(crate) fn one(looked: &Looked<Refund>) -> Result<Value, Failure> {
    let mut outcomes = Vec::new();
    for (word, foreseen) in &looked.words {
        outcomes.push(match foreseen {
            Ok(foreseen) => {
                let (state, order) = (foreseen.operation.state, balances(foreseen.subject.as_ref())?);
                json!({ "outcome": word, "state": state, "order": order })
            }
            Err(refused) => json!({ "outcome": word, "error": json!(refused).get("error") }),
        });
    }
    let (operation, order) = (row(&looked.operation), balances(looked.subject.as_ref())?);
    Ok(json!({ "operation": operation, "order": order, "outcomes": outcomes }))
}

fn row(operation: &Operation<Refund>) -> Row<'_> {
    let refund = &operation.effect;
    Row {
        operation_id: &operation.id,
        proposal_id: &operation.intent_id,
        order_id: &refund.order_id,
        amount: refund.currency.format(refund.amount_minor.get()),
        amount_minor: refund.amount_minor.get(),
        currency: refund.currency,
        state: operation.state,
        conflict: operation.conflict,
        waiting_since: operation.attention_at,
        reason: operation.reason.as_deref(),
        attempts: operation.attempts,
        account: &refund.account,
        mode: refund.mode,
        payment: &refund.payment,
        reference: operation.reference.as_deref(),
        requester: &operation.requester.principal,
        approver: &operation.approver,
        accepted_at: operation.accepted_at,
        resolution: operation.resolution.as_deref(),
        version: &operation.nonce,
    }
}

fn balances(order: Option<&Item>) -> Result<Option<Balances>, Failure> {
    let Some(order) = order.map(Order::read).transpose()? else { return Ok(None) };
    let amount = |minor: refunds::BalanceMinor| order.currency.format(minor.get());
    Ok(Some(Balances {
        refundable: amount(order.refundable_minor),
        reserved: amount(order.reserved_minor),
        refunded: amount(order.refunded_minor),
        conflicts: order.conflicts,
    }))
}
