//! Answers in Stripe's form: <https://docs.stripe.com/api/errors> and <https://docs.stripe.com/api/refunds/object>.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::refund::{Payment, Refund, RefundStatus};

/// A status and a body, as sent and as stored under a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl Answer {
    pub(super) fn ok(body: Value) -> Self {
        Self { status: 200, body }
    }

    fn error(status: u16, kind: &str, message: impl Into<String>) -> Self {
        Self { status, body: json!({ "error": { "type": kind, "message": message.into() } }) }
    }

    fn with(mut self, member: &str, value: &str) -> Self {
        if let Some(error) = self.body.get_mut("error").and_then(Value::as_object_mut) {
            error.insert(member.to_owned(), Value::from(value));
        }
        self
    }

    /// A request that is wrong in itself.
    pub(super) fn invalid(message: impl Into<String>, param: &str) -> Self {
        Self::error(400, "invalid_request_error", message).with("param", param)
    }

    /// The same, where Stripe has a code for it.
    pub(super) fn invalid_code(code: &str, message: impl Into<String>, param: &str) -> Self {
        Self::invalid(message, param).with("code", code)
    }

    /// A parameter that there is not.
    pub(super) fn unknown_parameter(name: &str) -> Self {
        Self::invalid_code("parameter_unknown", format!("Received unknown parameter: {name}"), name)
    }

    /// An id that names nothing, in the path.
    pub(super) fn not_found(kind: &str, id: &str) -> Self {
        Self::error(404, "invalid_request_error", format!("No such {kind}: '{id}'"))
            .with("code", "resource_missing")
            .with("param", "id")
    }

    /// An id that names nothing, in a parameter.
    pub(super) fn missing(kind: &str, id: &str, param: &str) -> Self {
        Self::invalid_code("resource_missing", format!("No such {kind}: '{id}'"), param)
    }

    /// More than is left. Stripe gives no code here, only the parameter.
    pub(super) fn over_refund(amount: i64, left: i64) -> Self {
        let message = format!("Refund amount ({amount}) is greater than unrefunded amount on charge ({left})");
        Self::invalid(message, "amount")
    }

    /// Nothing is left.
    pub(super) fn already_refunded(payment: &Payment) -> Self {
        let message = format!("Charge {} has already been refunded.", payment.charge());
        Self::error(400, "invalid_request_error", message).with("code", "charge_already_refunded")
    }

    /// A definite refusal by the card's bank.
    pub(super) fn declined() -> Self {
        Self::error(402, "card_error", "The refund was declined by the card issuer.")
            .with("code", "card_declined")
            .with("decline_code", "generic_decline")
    }

    /// A failure on the provider's side, of which the client knows nothing more.
    pub(super) fn server_error() -> Self {
        Self::error(500, "api_error", "An unknown error occurred.")
    }

    /// A failure before anything was begun.
    pub(super) fn unavailable() -> Self {
        Self::error(503, "api_error", "The service is not available.")
    }

    /// No or no valid API key.
    pub(super) fn unauthorized() -> Self {
        Self::error(401, "invalid_request_error", "Invalid API Key provided: give `Authorization: Bearer sk_test_…`.")
    }

    /// Slow down.
    pub(super) fn too_many_requests() -> Self {
        Self::error(429, "invalid_request_error", "Too many requests made to the API too quickly.")
            .with("code", "rate_limit")
    }

    /// A used key with other parameters.
    pub(super) fn key_reused() -> Self {
        Self::error(
            400,
            "idempotency_error",
            "Keys for idempotent requests can only be used with the same parameters they were first used with.",
        )
    }

    /// A key whose first request has not been answered.
    pub(super) fn key_in_use() -> Self {
        Self::error(
            409,
            "idempotency_error",
            "There is currently another in-progress request using this idempotent key.",
        )
        .with("code", "idempotency_key_in_use")
    }
}

/// The refund object. It names neither account nor mode, as Stripe's does not.
pub(super) fn refund(refund: &Refund) -> Value {
    let mut object = json!({
        "id": refund.id,
        "object": "refund",
        "amount": refund.amount,
        "balance_transaction": null,
        "charge": refund.charge,
        "created": refund.created,
        "currency": refund.currency,
        "metadata": refund.metadata,
        "payment_intent": refund.payment,
        "reason": refund.reason,
        "receipt_number": null,
        "source_transfer_reversal": null,
        "status": refund.status,
        "transfer_reversal": null,
    });
    if let (RefundStatus::Failed, Some(object)) = (refund.status, object.as_object_mut()) {
        object.insert("failure_reason".to_owned(), Value::from("expired_or_canceled_card"));
    }
    object
}

/// One page of a list (<https://docs.stripe.com/api/pagination>).
pub(super) fn list(data: Vec<Value>, has_more: bool) -> Value {
    json!({ "object": "list", "data": data, "has_more": has_more, "url": "/v1/refunds" })
}
