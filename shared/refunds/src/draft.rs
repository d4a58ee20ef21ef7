//! Drafting: a call's arguments and the order as it is now become a refund that somebody can agree to.

use std::time::Duration;

use countersign::bounded::{AmountMinor, Currency, Tenant};
use countersign::change::Snapshot;
use countersign::clock::Timestamp;
use countersign::digest::Fields;
use countersign::failure::Failure;
use countersign::intent::{Draft, Drafted};
use countersign::key::Key;

use crate::order::{Order, OrderId};
use crate::refund::{Reason, Refund, fits, moving};
use crate::similar::{self, Similar};

/// The step, in minor units, in which amounts of a currency can be paid: a provider that takes no finer ones would leave
/// what a person has approved unsent. The adapters' own tests hold it against what they can say.
#[must_use]
pub const fn step(currency: Currency) -> i64 {
    match currency {
        Currency::Eur | Currency::Usd | Currency::Gbp | Currency::Jpy | Currency::Isk => 1,
        // Card networks take three-decimal amounts without the last decimal:
        // <https://docs.stripe.com/currencies#three-decimal>.
        Currency::Kwd => 10,
    }
}

/// The arguments of prepare_refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundDraft {
    /// Of which order.
    pub order_id: OrderId,
    /// How much.
    pub amount_minor: AmountMinor,
    /// In what the caller believes the order was paid.
    pub currency: Currency,
    /// Why.
    pub reason: Reason,
}

impl Draft for RefundDraft {
    type Effect = Refund;
    const LIFETIME: Duration = Duration::from_secs(30 * 60);

    fn arguments(&self, fields: &mut Fields) {
        fields.text("order_id", self.order_id.as_str());
        self.amount_minor.digest(self.currency, fields);
        fields.text("reason", self.reason.as_str());
    }

    fn keys(&self, tenant: &Tenant) -> Vec<Key> {
        vec![Order::key(tenant, &self.order_id), similar::key(tenant, &self.order_id, self.amount_minor)]
    }

    fn draft(&self, tenant: &Tenant, seen: &Snapshot, now: Timestamp) -> Result<Drafted<Refund>, Failure> {
        let order = seen.item(&Order::key(tenant, &self.order_id)).ok_or_else(|| Failure::not_found("order"))?;
        let order = Order::read(order)?;
        if order.currency != self.currency {
            return Err(Failure::invalid_input("currency", format!("the order was paid in {}", order.currency)));
        }
        let step = step(self.currency);
        if self.amount_minor.get() % step != 0 {
            let message = format!("{} is paid in steps of {step} minor units", self.currency);
            return Err(Failure::invalid_input("amount_minor", message));
        }
        moving(&order)?;
        fits(&order, self.amount_minor)?;
        let similar_operation_id = match similar::of(tenant, &self.order_id, self.amount_minor, seen, now)? {
            Similar::None => None,
            Similar::Is(operation) => Some(operation),
            Similar::Need(key) => return Ok(Drafted::Need(vec![key])),
        };
        Ok(Drafted::Effect(Refund {
            order_id: order.id,
            terms_version: order.terms_version,
            account: order.account,
            mode: order.mode,
            payment: order.payment,
            amount_minor: self.amount_minor,
            currency: self.currency,
            reason: self.reason,
            similar_operation_id,
        }))
    }
}
