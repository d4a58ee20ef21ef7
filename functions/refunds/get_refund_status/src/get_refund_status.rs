//! `get_refund_status`: how far a submitted refund has come.

use countersign::bounded::OperationId;
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::failure::Failure;
use countersign::ledger::Dynamo;
use countersign::tool::{About, Call, Hints, Tier, Tool};
use refunds::{Receipt, find};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of the provider's reference is shown, in characters.
const REFERENCE: usize = 100;
/// How much of the reason is shown, in characters.
const REASON: usize = 200;

/// The tool.
pub(crate) struct GetRefundStatus {
    /// Where operations lie.
    pub(crate) ledger: Dynamo,
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The operation_id that submit_refund returned.
    operation_id: OperationId,
}

/// The answer: the receipt, where the refund stands, and what is known beyond.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What was accepted.
    #[serde(flatten)]
    receipt: Receipt,
    /// What the payment provider calls the refund, once it has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = REFERENCE))]
    provider_reference: Option<String>,
    /// Why it was refused, cancelled or is not known, where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = REASON))]
    reason: Option<String>,
}

impl Tool for GetRefundStatus {
    const NAME: &'static str = "get_refund_status";
    const ABOUT: About = About {
        title: "Refund status",
        description: "Show how far a refund that submit_refund accepted has come, for the person who requested it or an \
            operator. Changes nothing. While it is queued, sending or settling, look again later; while it is unknown or \
            needs_operator, ask an operator. Submit nothing again.",
        version: "1.0.0",
        tier: Tier::Read,
        hints: Hints::READ,
        roles: &["requester", "operator"],
        max_response_bytes: 4 * 1024,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: &Call, input: Input) -> Result<Output, Failure> {
        let status = find(&call.by, input.operation_id);
        let operation = execute(&self.ledger.until(call.deadline), &Timestamp::now, &status).await?;
        let shown = |text: &String, most| text.chars().take(most).collect();
        Ok(Output {
            receipt: Receipt::of(&operation)?,
            provider_reference: operation.reference.as_ref().map(|text| shown(text, REFERENCE)),
            reason: operation.reason.as_ref().map(|text| shown(text, REASON)),
        })
    }
}
