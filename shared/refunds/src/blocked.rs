//! Blocked refunds: whether anything stands in the way of every refund of an order, whatever its amount.

use countersign::change::Snapshot;
use countersign::effect::Effect as _;
use countersign::failure::Failure;
use countersign::hold;
use countersign::key::Key;

use crate::order::Order;
use crate::refund::Refund;

countersign::choice! {
    /// What stands in the way of every refund of an order.
    pub enum Blocked {
        /// Nothing does.
        None = "none",
        /// An operator has stopped all refunds.
        AllRefundsHeld = "all_refunds_held",
        /// The provider contradicts what is on record of a refund of this order, whether or not all are stopped too.
        OrderInConflict = "order_in_conflict",
    }
}

impl Blocked {
    /// What has to be seen besides the order.
    ///
    /// # Errors
    /// When the domain's name is none, which its tests find.
    pub fn key() -> Result<Key, Failure> {
        hold::key(Refund::COMMAND)
    }

    /// Whether an operator has stopped all refunds.
    #[must_use]
    pub fn all(seen: &Snapshot) -> bool {
        hold::check(Refund::COMMAND, seen).is_err()
    }

    /// What stands in the way of this order's refunds.
    #[must_use]
    pub fn of(order: &Order, seen: &Snapshot) -> Self {
        if order.conflicts > 0 {
            Self::OrderInConflict
        } else if Self::all(seen) {
            Self::AllRefundsHeld
        } else {
            Self::None
        }
    }
}
