//! Receipts: what every answer about a submitted refund says, in the same words.

use countersign::bounded::{AmountMinor, Currency, OperationId};
use countersign::clock::Timestamp;
use countersign::failure::Failure;
use countersign::item::Item;
use countersign::operation::{Operation, State};
use schemars::JsonSchema;
use serde::Serialize;

use crate::order::{BalanceMinor, OrderId};
use crate::refund::{ProposalId, Refund};

/// What was accepted, which never changes, and where it stands now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Receipt {
    /// The refund's operation, for get_refund_status.
    operation_id: OperationId,
    /// The proposal that was submitted.
    proposal_id: ProposalId,
    /// The order.
    order_id: OrderId,
    /// How much.
    amount_minor: AmountMinor,
    /// Of what.
    currency: Currency,
    /// When it was accepted.
    accepted_at: Timestamp,
    /// Where it stands now.
    state: State,
    /// What that means, and what must not be done.
    #[schemars(length(max = 200))]
    next_step: &'static str,
}

impl Receipt {
    /// The receipt of an operation.
    ///
    /// # Errors
    /// When its intent is no refund proposal.
    pub fn of(operation: &Operation<Refund>) -> Result<Self, Failure> {
        Ok(Self {
            operation_id: operation.id.clone(),
            proposal_id: ProposalId::parse(operation.intent_id.as_str()).map_err(Failure::internal)?,
            order_id: operation.effect.order_id.clone(),
            amount_minor: operation.effect.amount_minor,
            currency: operation.effect.currency,
            accepted_at: operation.accepted_at,
            state: operation.state,
            next_step: operation.advice(),
        })
    }
}

/// A refund as the index shows it, in a list for people.
#[derive(Debug)]
pub struct RecentRefund {
    /// Its operation.
    pub operation_id: OperationId,
    /// How much.
    pub amount_minor: BalanceMinor,
    /// Where it stood when the index was last brought up to date.
    pub state: State,
    /// When it was accepted.
    pub accepted_at: Timestamp,
}

impl RecentRefund {
    /// Reads what the index projects.
    ///
    /// # Errors
    /// When the record is malformed.
    pub fn read(item: &Item) -> Result<Self, Failure> {
        let refund: Refund = serde_json::from_str(item.text("effect")?).map_err(Failure::internal)?;
        Ok(Self {
            operation_id: item.parse("operation_id", OperationId::parse)?,
            amount_minor: BalanceMinor::new(refund.amount_minor.get()).map_err(Failure::internal)?,
            state: item.parse("state", State::parse)?,
            accepted_at: item.moment("accepted_at")?,
        })
    }
}
