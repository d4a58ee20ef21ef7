//! `prepare_refund`: persists a proposal that a person can approve. Moves nothing, reserves nothing.

use countersign::bounded::{AmountMinor, Currency, OperationId};
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::failure::Failure;
use countersign::intent::{Prepare, Prepared};
use countersign::ledger::Dynamo;
use countersign::tool::{About, Call, Hints, Tier, Tool};
use refunds::{OrderId, ProposalId, Reason, Refund, RefundDraft};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What has to happen to a proposal.
const ASK: &str = "ask a person who may approve refunds to approve this proposal, then call submit_refund";
/// The same where the wish may have been fulfilled already.
const LOOK_FIRST: &str = "call get_refund_status with similar_operation_id; tell the requester of that refund; if this \
    one is meant beside it, ask an approver, who has to tick that they know of it; then call submit_refund";

/// The tool.
pub(crate) struct PrepareRefund {
    /// Where orders and proposals lie.
    pub(crate) ledger: Dynamo,
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The order's identifier, e.g. ord_8F3K2.
    order_id: OrderId,
    /// The requested refund. In KWD a multiple of 10.
    amount_minor: AmountMinor,
    /// The ISO 4217 code of the order's currency, e.g. EUR.
    currency: Currency,
    /// Why the money goes back.
    reason_code: Reason,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The proposal, for submit_refund once a person has approved it.
    proposal_id: ProposalId,
    /// The order.
    order_id: OrderId,
    /// What would be refunded, to the original payment.
    amount_minor: AmountMinor,
    /// Of what.
    currency: Currency,
    /// Why.
    reason_code: Reason,
    /// A refund of the same order and amount within the last 24 hours. Ask the requester whether this is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    similar_operation_id: Option<OperationId>,
    /// Whether an identical call had prepared this proposal before.
    reused: bool,
    /// From when on the proposal can no longer be submitted.
    expires_at: Timestamp,
    /// What has to happen now.
    #[schemars(length(max = 200))]
    next_step: &'static str,
}

impl Tool for PrepareRefund {
    const NAME: &'static str = "prepare_refund";
    const ABOUT: About = About {
        title: "Prepare a refund",
        description: "Prepare a refund proposal for one order of the caller's tenant without moving money. Use before \
            submit_refund. Returns a proposal_id that a person has to approve within 30 minutes. Does not submit, \
            reserve or approve anything. An identical call returns the same proposal while it is open.",
        version: "1.0.0",
        tier: Tier::Prepare,
        hints: Hints::PREPARE,
        roles: &["requester"],
        max_response_bytes: 2 * 1024,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: &Call, input: Input) -> Result<Output, Failure> {
        let Input { order_id, amount_minor, currency, reason_code: reason } = input;
        let draft = RefundDraft { order_id, amount_minor, currency, reason };
        let prepare = Prepare::new(&call.by, draft)?;
        let prepared = execute(&self.ledger.until(call.deadline), &Timestamp::now, &prepare).await?;
        answer(prepared)
    }
}

fn answer(Prepared { intent, reused }: Prepared<Refund>) -> Result<Output, Failure> {
    let refund = intent.effect;
    let next_step = if refund.similar_operation_id.is_some() { LOOK_FIRST } else { ASK };
    Ok(Output {
        proposal_id: ProposalId::parse(intent.id.as_str()).map_err(Failure::internal)?,
        order_id: refund.order_id,
        amount_minor: refund.amount_minor,
        currency: refund.currency,
        reason_code: refund.reason,
        similar_operation_id: refund.similar_operation_id,
        reused,
        expires_at: intent.expires_at,
        next_step,
    })
}
