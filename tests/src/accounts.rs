//! The books: an order's balances, held against what the provider did.

use countersign::clock::Timestamp;
use local::provider::RefundStatus;
use refunds::Order;

use crate::App;

/// An hour ago: for what has to be due, lapsed or over.
pub fn past() -> Timestamp {
    Timestamp::from_seconds(Timestamp::now().seconds() - 3_600)
}

impl App {
    /// What the provider has refunded of an order, in minor units.
    pub fn moved(&self, order: &Order) -> i64 {
        let refunds = self.gateway.provider().effects(order.payment.as_str());
        let counts = |status| !matches!(status, RefundStatus::Failed | RefundStatus::Canceled);
        refunds.iter().filter(|refund| counts(refund.status)).map(|refund| refund.amount).sum()
    }

    /// How many refunds the provider has made of an order.
    pub fn effects(&self, order: &Order) -> usize {
        self.gateway.provider().effects(order.payment.as_str()).len()
    }

    /// How many requests to refund a proposal have reached the provider.
    pub fn requests(&self, proposal: &str) -> usize {
        let ours =
            |seen: &&local::provider::Seen| seen.method == "POST" && seen.idempotency_key.as_deref() == Some(proposal);
        self.gateway.provider().requests().iter().filter(ours).count()
    }

    /// The order's balances: refundable, reserved, refunded.
    ///
    /// They have to add up to what was captured, and to agree with the provider: what is booked as refunded was
    /// refunded, and whatever else was is still reserved.
    pub async fn balances(&self, order: &Order) -> (i64, i64, i64) {
        let now = self.order_now("acme", &order.id).await;
        let (refundable, reserved, refunded) =
            (now.refundable_minor.get(), now.reserved_minor.get(), now.refunded_minor.get());
        assert_eq!(now.captured_minor.get(), refundable + reserved + refunded, "{now:?}");
        let moved = self.moved(order);
        assert!((refunded..=refunded + reserved).contains(&moved), "the provider refunded {moved}: {now:?}");
        (refundable, reserved, refunded)
    }
}
