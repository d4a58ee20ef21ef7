//! Refunds: the effect that a person agrees to and a provider carries out.

use countersign::bounded::{Alphabet, AmountMinor, Currency, IntentId, OperationId, Tenant};
use countersign::change::{Guard, Seen, Snapshot, Step};
use countersign::clock::Timestamp;
use countersign::delivery::External;
use countersign::digest::Fields;
use countersign::effect::{CommandName, Demand, Effect, Noun};
use countersign::failure::{Code, Failure, Retry};
use countersign::key::Key;
use serde::{Deserialize, Serialize};

use crate::order::{Mode, Order, OrderId, PaymentReference, ProviderAccount};
use crate::similar::{self, Similar};

/// More than can still go back.
pub const EXCEEDS_REFUNDABLE: Code = Code::new("exceeds_refundable");

countersign::text! {
    /// A refund proposal's identifier, as prepare_refund returned it.
    pub struct ProposalId { prefix: "prop_", length: 26..26, of: Alphabet::Base32 }
}
countersign::choice! {
    /// Why the money goes back.
    pub enum Reason {
        /// It arrived damaged.
        Damaged = "damaged",
        /// It arrived late.
        Late = "late",
        /// It never arrived.
        NotReceived = "not_received",
        /// Nobody owes it; it is given.
        Goodwill = "goodwill",
    }
}

impl ProposalId {
    /// The intent that the proposal is.
    ///
    /// # Errors
    /// When the two grammars no longer fit each other, which is a fault of ours.
    pub fn intent(&self) -> Result<IntentId, Failure> {
        IntentId::parse(self.as_str()).map_err(Failure::internal)
    }
}

/// One refund to the original payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refund {
    /// The order that was paid.
    pub order_id: OrderId,
    /// The terms that were seen.
    pub terms_version: i64,
    /// Where the payment was taken.
    pub account: ProviderAccount,
    /// Whether real money moves.
    pub mode: Mode,
    /// The payment that goes back; there is no other destination.
    pub payment: PaymentReference,
    /// How much.
    pub amount_minor: AmountMinor,
    /// Of what.
    pub currency: Currency,
    /// Why.
    pub reason: Reason,
    /// A refund of the same order and amount in the 24 hours before. Whoever approves has to know of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similar_operation_id: Option<OperationId>,
}

impl Refund {
    fn order(&self, tenant: &Tenant) -> Step {
        Step::update(Order::key(tenant, &self.order_id))
    }

    /// The order, while it still has the amount reserved.
    fn reserved(&self, tenant: &Tenant, amount: i64) -> Step {
        self.order(tenant).when(Guard::AtLeast("reserved_minor", amount))
    }
}

impl Effect for Refund {
    const COMMAND: CommandName = CommandName {
        domain: "refunds",
        submit: "submit_refund",
        prepare: "prepare_refund",
        status: "get_refund_status",
        version: 1,
        noun: Noun::Proposal,
    };

    fn digest(&self, fields: &mut Fields) {
        fields
            .text("order_id", self.order_id.as_str())
            .integer("terms_version", self.terms_version)
            .text("account", self.account.as_str())
            .text("mode", self.mode.as_str())
            .text("payment", self.payment.as_str());
        self.amount_minor.digest(self.currency, fields);
        fields
            .text("destination", "original_payment")
            .text("reason", self.reason.as_str())
            .optional("similar_operation_id", self.similar_operation_id.as_ref().map(OperationId::as_str));
    }

    fn summary(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![
            ("refund", self.currency.format(self.amount_minor.get())),
            ("order", self.order_id.to_string()),
            ("to", format!("the original payment {} at {} ({})", self.payment, self.account, self.mode)),
            ("reason", self.reason.to_string()),
        ];
        if let Some(similar) = &self.similar_operation_id {
            lines
                .push(("attention", format!("the same amount of this order was submitted within 24 hours: {similar}")));
        }
        lines
    }

    fn subject(&self, tenant: &Tenant) -> Key {
        Order::key(tenant, &self.order_id)
    }

    fn acknowledge(&self) -> Option<&OperationId> {
        self.similar_operation_id.as_ref()
    }

    fn demand(&self) -> Demand {
        Demand { limit: self.currency.limit_attribute(), amount: self.amount_minor.get() }
    }

    fn check(&self, tenant: &Tenant, seen: &Snapshot) -> Result<(), Failure> {
        let order = match seen.see(&self.subject(tenant)) {
            Seen::NotLoaded => return Ok(()),
            Seen::Absent => None,
            Seen::Present(item) => Some(Order::read(item)?),
        };
        let Some(order) = order.filter(|order| order.terms_version == self.terms_version) else {
            return Err(Failure::new(
                Self::COMMAND.noun.stale(),
                Retry::Never,
                "the order has changed since the proposal was prepared",
                "call get_order_summary, then prepare_refund again if the refund is still right",
            ));
        };
        moving(&order)?;
        fits(&order, self.amount_minor)
    }

    fn reconsider(&self, tenant: &Tenant, seen: &Snapshot, now: Timestamp) -> Result<Vec<Key>, Failure> {
        let note = similar::key(tenant, &self.order_id, self.amount_minor);
        let missing = seen.missing([&note]);
        if !missing.is_empty() {
            return Ok(missing);
        }
        match similar::of(tenant, &self.order_id, self.amount_minor, seen, now)? {
            Similar::Need(key) => Ok(vec![key]),
            Similar::Is(operation) if self.similar_operation_id.as_ref() != Some(&operation) => Err(Failure::new(
                Self::COMMAND.noun.stale(),
                Retry::Never,
                "the proposal does not name another refund of the same amount of this order",
                "call prepare_refund again if it is wanted once more; the new proposal will name the other refund",
            )
            .about(operation)),
            Similar::Is(_) | Similar::None => Ok(Vec::new()),
        }
    }

    fn reserve(&self, tenant: &Tenant, operation: &OperationId, seen: &Snapshot, now: Timestamp) -> Vec<Step> {
        let amount = self.amount_minor.get();
        let reserve = self
            .order(tenant)
            .when_is("terms_version", self.terms_version)
            .when_is("conflicts", 0)
            .when(Guard::AtLeast("refundable_minor", amount))
            .add("refundable_minor", -amount)
            .add("reserved_minor", amount);
        vec![reserve, similar::note(tenant, self, operation, seen, now)]
    }
}

impl External for Refund {
    fn unchanged(&self, tenant: &Tenant) -> Step {
        Step::check(self.subject(tenant)).when_is("terms_version", self.terms_version).when_is("conflicts", 0)
    }

    fn frozen(&self, tenant: &Tenant, seen: &Snapshot) -> bool {
        seen.item(&self.subject(tenant)).is_some_and(|order| order.integer("conflicts").is_ok_and(|count| count > 0))
    }

    fn settle(&self, tenant: &Tenant) -> Vec<Step> {
        let amount = self.amount_minor.get();
        vec![self.reserved(tenant, amount).add("reserved_minor", -amount).add("refunded_minor", amount)]
    }

    fn release(&self, tenant: &Tenant) -> Vec<Step> {
        let amount = self.amount_minor.get();
        vec![self.reserved(tenant, amount).add("reserved_minor", -amount).add("refundable_minor", amount)]
    }

    fn take_back(&self, tenant: &Tenant) -> Vec<Step> {
        let amount = self.amount_minor.get();
        let refunded = self.order(tenant).when(Guard::AtLeast("refunded_minor", amount));
        vec![refunded.add("refunded_minor", -amount).add("refundable_minor", amount)]
    }

    fn book(&self, tenant: &Tenant, seen: &Snapshot) -> Result<Vec<Step>, Failure> {
        let amount = self.amount_minor.get();
        if let Some(order) = seen.item(&self.subject(tenant)) {
            fits(&Order::read(order)?, self.amount_minor)?;
        }
        let refundable = self.order(tenant).when(Guard::AtLeast("refundable_minor", amount));
        Ok(vec![refundable.add("refundable_minor", -amount).add("refunded_minor", amount)])
    }

    fn freeze(&self, tenant: &Tenant) -> Step {
        self.order(tenant).add("conflicts", 1)
    }

    fn thaw(&self, tenant: &Tenant) -> Step {
        self.order(tenant).when(Guard::AtLeast("conflicts", 1)).add("conflicts", -1)
    }
}

/// Whether anything of this order may be refunded at all.
pub(crate) fn moving(order: &Order) -> Result<(), Failure> {
    if order.conflicts == 0 {
        return Ok(());
    }
    Err(Failure::new(
        Code::HELD,
        Retry::Later,
        "a refund of this order is in conflict with the payment provider",
        "ask an operator to put it right; until then nothing of this order is refunded",
    ))
}

/// Whether so much can still go back.
pub(crate) fn fits(order: &Order, amount: AmountMinor) -> Result<(), Failure> {
    let refundable = order.refundable_minor.get();
    if amount.get() <= refundable {
        return Ok(());
    }
    if refundable == 0 {
        let next = "tell the requester; get_order_summary shows what was refunded or is on its way";
        return Err(Failure::new(EXCEEDS_REFUNDABLE, Retry::Never, "nothing of this order is left to refund", next));
    }
    Err(Failure::new(
        EXCEEDS_REFUNDABLE,
        Retry::Never,
        format!("of this order {} can be refunded", order.currency.format(refundable)),
        "call get_order_summary and prepare_refund with no more than refundable_minor",
    ))
}
