//! `submit_refund`: takes an approved proposal and a key, and nothing else. There is no second amount.

use countersign::bounded::IdempotencyKey;
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::failure::Failure;
use countersign::keys::KeySet;
use countersign::ledger::Dynamo;
use countersign::submit::{Accepted, Submit};
use countersign::tool::{About, Call, Hints, Tier, Tool};
use refunds::{ProposalId, Receipt, Refund};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool.
pub(crate) struct SubmitRefund {
    /// Where proposals and operations lie.
    pub(crate) ledger: Dynamo,
    /// Whose signatures count as a person's.
    pub(crate) consent_keys: KeySet,
}

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The proposal_id that prepare_refund returned.
    proposal_id: ProposalId,
    /// The key of this refund: the same on every retry, a new one for every other proposal.
    idempotency_key: IdempotencyKey,
}

/// The answer: a receipt that never changes, and where the refund stands.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// What was accepted.
    #[serde(flatten)]
    receipt: Receipt,
    /// Whether an earlier call with this key had submitted it.
    replayed: bool,
}

impl Tool for SubmitRefund {
    const NAME: &'static str = "submit_refund";
    const ABOUT: About = About {
        title: "Submit a refund",
        description: "Submit a refund proposal that was prepared by prepare_refund and approved by a person. Moves \
            money once, exactly as it was approved. Fails if the proposal is not approved, expired, changed or already \
            submitted. Reuse the same idempotency_key when retrying; the answer is then the first one again. Use \
            get_refund_status to see how it goes on.",
        version: "1.0.0",
        tier: Tier::Submit,
        hints: Hints::SUBMIT_EXTERNAL,
        roles: &["requester"],
        max_response_bytes: 2 * 1024,
    };
    type Input = Input;
    type Output = Output;

    async fn call(&self, call: &Call, input: Input) -> Result<Output, Failure> {
        let intent = input.proposal_id.intent()?;
        let submit = Submit::<Refund>::new(&call.by, intent, &input.idempotency_key, &self.consent_keys)?;
        let accepted = execute(&self.ledger.until(call.deadline), &Timestamp::now, &submit).await?;
        let Accepted { operation, replayed } = accepted;
        Ok(Output { receipt: Receipt::of(&operation)?, replayed })
    }
}
