//! `cancel_refund`: stops a submitted refund, as long as nothing was sent to the payment provider.

use countersign::bounded::OperationId;
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::delivery::Cancel;
use countersign::failure::Failure;
use countersign::ledger::Dynamo;
use countersign::tool::{About, Call, Hints, Tier, Tool};
use refunds::{Receipt, Refund};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool.
pub(crate) struct CancelRefund {
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

/// The answer: the receipt of the refund that was stopped.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What had been accepted.
    #[serde(flatten)]
    receipt: Receipt,
}

impl Tool for CancelRefund {
    const NAME: &'static str = "cancel_refund";
    const ABOUT: About = About {
        title: "Cancel a refund",
        description: "Stop a refund that submit_refund accepted, for the person who requested it or an operator. Works \
            only while it is queued and nothing was sent to the payment provider; the amount is refundable again then. \
            Otherwise fails with too_late_to_cancel and changes nothing. A cancelled refund stays cancelled; calling \
            again is harmless.",
        version: "1.0.0",
        tier: Tier::Cancel,
        hints: Hints::CANCEL,
        roles: &["requester", "operator"],
        max_response_bytes: 2 * 1024,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: &Call, input: Input) -> Result<Output, Failure> {
        let cancel = Cancel::<Refund>::new(&call.by, input.operation_id)?;
        let operation = execute(&self.ledger.until(call.deadline), &Timestamp::now, &cancel).await?;
        Ok(Output { receipt: Receipt::of(&operation)? })
    }
}
