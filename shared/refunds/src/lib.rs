//! The refund domain: its records and its decisions. It knows no Lambda event and no database.

mod blocked;
mod draft;
mod order;
mod receipt;
mod refund;
mod similar;
mod status;

pub use blocked::Blocked;
pub use draft::{RefundDraft, step};
pub use order::{BalanceMinor, Mode, Order, OrderId, OrderStatus, PaymentReference, ProviderAccount};
pub use receipt::{Receipt, RecentRefund};
pub use refund::{EXCEEDS_REFUNDABLE, ProposalId, Reason, Refund};
pub use status::{Status, find};
