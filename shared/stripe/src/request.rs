//! The request of one refund: the same bytes each time it is made, and persisted before it is sent.

use countersign::bounded::{IntentId, Tenant};
use countersign::delivery::Unsayable;
use refunds::{Mode, Refund};
use serde::{Deserialize, Serialize};

use crate::units;

/// What is sent. The secret key and the idempotency key are added when it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// The `Stripe-Account` header.
    pub(crate) account: String,
    /// Whether real money moves: the mode of the key, as the answer has to repeat it where it names one.
    pub(crate) live: bool,
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
    pub(crate) fn of(tenant: &Tenant, intent: &IntentId, refund: &Refund) -> Result<Self, Unsayable> {
        let amount = units::of(refund.amount_minor.get(), refund.currency)?;
        let (payment, reason) = (&refund.payment, refund.reason);
        let form = format!(
            "payment_intent={payment}&amount={amount}&reason=requested_by_customer&metadata%5Btenant%5D={tenant}\
             &metadata%5Bintent_id%5D={intent}&metadata%5Breason_code%5D={reason}"
        );
        Ok(Self {
            account: refund.account.to_string(),
            live: refund.mode == Mode::Live,
            form,
            amount,
            currency: refund.currency.as_str().to_ascii_lowercase(),
            payment: payment.to_string(),
        })
    }

    /// The mode that the key must have.
    pub(crate) fn mode(&self) -> Mode {
        if self.live { Mode::Live } else { Mode::Test }
    }

    pub(crate) fn to_text(&self) -> Result<String, Unsayable> {
        serde_json::to_string(self).map_err(|_| Unsayable("the request could not be written down"))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_the_same_bytes_each_time_and_names_tenant_and_intent() {
        let refund = serde_json::json!({
            "order_id": "ord_1", "terms_version": 1, "account": "acct_1", "mode": "live", "payment": "pi_1",
            "amount_minor": 100, "currency": "ISK", "reason": "late",
        });
        let refund: Refund = serde_json::from_value(refund).unwrap();
        let (tenant, intent) = (Tenant::parse("acme").unwrap(), format!("prop_{}", "a".repeat(26)));
        let intent = IntentId::parse(&intent).unwrap();
        let request = Request::of(&tenant, &intent, &refund).unwrap();
        let form = "payment_intent=pi_1&amount=10000&reason=requested_by_customer&metadata%5Btenant%5D=acme\
                    &metadata%5Bintent_id%5D=prop_aaaaaaaaaaaaaaaaaaaaaaaaaa&metadata%5Breason_code%5D=late";
        assert_eq!((request.form.as_str(), request.amount, request.mode()), (form, 10_000, Mode::Live));
        assert_eq!(Request::of(&tenant, &intent, &refund).unwrap().to_text(), request.to_text());
        assert_eq!(Request::parse(&request.to_text().unwrap()), Some(request));
    }
}
