//! Orders: what was paid and how much of it can still go back, stored ready to compare.

use countersign::bounded::{Currency, Tenant};
use countersign::clock::Timestamp;
use countersign::failure::Failure;
use countersign::item::Item;
use countersign::key::{Key, Kind};

const ORDER: Kind = Kind::ledger("order");

countersign::text! {
    /// An order's identifier, e.g. ord_8F3K2.
    pub struct OrderId { prefix: "ord_", length: 1..28, of: countersign::bounded::Alphabet::Alphanumeric }
}
countersign::text! {
    /// What the payment provider calls the payment: a Stripe PaymentIntent.
    pub struct PaymentReference { prefix: "pi_", length: 1..60, of: countersign::bounded::Alphabet::UrlSafe }
}
countersign::text! {
    /// The merchant's account at the payment provider.
    pub struct ProviderAccount { prefix: "acct_", length: 1..60, of: countersign::bounded::Alphabet::UrlSafe }
}
countersign::integer! {
    /// A balance in the currency's minor units.
    pub struct BalanceMinor { 0..=999_999_999_999, "minor units" }
}
countersign::choice! {
    /// Whether the provider moves real money.
    pub enum Mode {
        /// It does not.
        Test = "test",
        /// It does.
        Live = "live",
    }
}
countersign::choice! {
    /// How far an order has come.
    pub enum OrderStatus {
        /// Paid, not shipped.
        Paid = "paid",
        /// On its way.
        Shipped = "shipped",
        /// Arrived.
        Delivered = "delivered",
        /// Called off.
        Cancelled = "cancelled",
    }
}

/// An order with its balances.
// INVARIANT: captured = refundable + reserved + refunded. Each step of a refund moves an amount from one to the next.
// INVARIANT: `terms_version` moves with payment, currency, captured amount, status and destination, never with a
// balance: two refunds that fit do not make each other stale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its identifier.
    pub id: OrderId,
    /// How far it has come.
    pub status: OrderStatus,
    /// What it was paid in.
    pub currency: Currency,
    /// What was paid.
    pub captured_minor: BalanceMinor,
    /// What can still go back.
    pub refundable_minor: BalanceMinor,
    /// What is on its way back.
    pub reserved_minor: BalanceMinor,
    /// What went back.
    pub refunded_minor: BalanceMinor,
    /// Counts changes of what a refund is agreed on.
    pub terms_version: i64,
    /// How many refunds are in conflict with the provider. While there is one, nothing more is accepted or sent.
    pub conflicts: i64,
    /// The payment.
    pub payment: PaymentReference,
    /// Where the payment was taken.
    pub account: ProviderAccount,
    /// Whether real money moves.
    pub mode: Mode,
    /// When it was placed.
    pub placed_at: Timestamp,
    /// What the customer wrote. Anybody's words, and nobody's instructions.
    pub customer_note: Option<String>,
}

impl Order {
    /// Where an order lies.
    #[must_use]
    pub fn key(tenant: &Tenant, id: &OrderId) -> Key {
        ORDER.key(tenant, &[id])
    }

    /// The order as a record.
    #[must_use]
    pub fn item(&self) -> Item {
        Item::new()
            .with("order_id", self.id.as_str())
            .with("status", self.status.as_str())
            .with("currency", self.currency.as_str())
            .with("captured_minor", self.captured_minor.get())
            .with("refundable_minor", self.refundable_minor.get())
            .with("reserved_minor", self.reserved_minor.get())
            .with("refunded_minor", self.refunded_minor.get())
            .with("terms_version", self.terms_version)
            .with("conflicts", self.conflicts)
            .with("payment", self.payment.as_str())
            .with("account", self.account.as_str())
            .with("mode", self.mode.as_str())
            .with("placed_at", self.placed_at)
            .with_optional("customer_note", self.customer_note.as_deref())
    }

    /// Reads a record.
    ///
    /// # Errors
    /// When it is malformed.
    pub fn read(item: &Item) -> Result<Self, Failure> {
        let balance = |attr| BalanceMinor::new(item.integer(attr)?).map_err(Failure::internal);
        Ok(Self {
            id: item.parse("order_id", OrderId::parse)?,
            status: item.parse("status", OrderStatus::parse)?,
            currency: item.parse("currency", Currency::parse)?,
            captured_minor: balance("captured_minor")?,
            refundable_minor: balance("refundable_minor")?,
            reserved_minor: balance("reserved_minor")?,
            refunded_minor: balance("refunded_minor")?,
            terms_version: item.integer("terms_version")?,
            conflicts: item.integer("conflicts")?,
            payment: item.parse("payment", PaymentReference::parse)?,
            account: item.parse("account", ProviderAccount::parse)?,
            mode: item.parse("mode", Mode::parse)?,
            placed_at: item.moment("placed_at")?,
            customer_note: item.optional_text("customer_note")?.map(str::to_owned),
        })
    }
}
