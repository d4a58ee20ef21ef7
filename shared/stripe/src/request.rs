//! The request of one refund: the same bytes each time it is made, and persisted before it is sent.

use countersign::bounded::IntentId;
use countersign::delivery::Unsayable;
use refunds::Refund;
use serde::{Deserialize, Serialize};

use crate::units;

/// What is sent. The secret key and the idempotency key are added when it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// The `Stripe-Account` header.
    pub(crate) account: String,
    /// The body, form-encoded. Every value is of an alphabet that needs no escaping.
    pub(crate) form: String,
    /// The amount in Stripe's unit, as the answer has to repeat it.
    pub(crate) amount: i64,
    /// The currency in lower case, likewise.
    pub(crate) currency: String,
    /// The payment, likewise.
    pub(crate) payment: String,
}

impl Request {
    /// The request of an intent. Everything in it comes from the intent, so that even a restored ledger repeats it.
    pub(crate) fn of(intent: &IntentId, refund: &Refund) -> Result<Self, Unsayable> {
        let amount = units::of(refund.amount_minor.get(), refund.currency)?;
        let (payment, reason) = (&refund.payment, refund.reason);
        let form = format!(
            "payment_intent={payment}&amount={amount}&reason=requested_by_customer\
             &metadata%5Bintent_id%5D={intent}&metadata%5Breason_code%5D={reason}"
        );
        Ok(Self {
            account: refund.account.to_string(),
            form,
            amount,
            currency: refund.currency.as_str().to_ascii_lowercase(),
            payment: payment.to_string(),
        })
    }

    pub(crate) fn to_text(&self) -> Result<String, Unsayable> {
        serde_json::to_string(self).map_err(|_| Unsayable("the request could not be written down"))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}
