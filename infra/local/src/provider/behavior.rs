//! The ways in which the provider can treat a request to create a refund.

/// What becomes of one request.
///
/// "Before" and "after" mean: before or after the refund was made and the answer was stored under its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Behavior {
    /// The refund is made, and is final at once.
    #[default]
    Succeed,
    /// 402: a definite refusal. No refund; the refusal is stored under the key.
    Decline,
    /// The refund is made but `pending` for so many lookups, and `succeeded` from the next on.
    /// With `u32::MAX` only [`Provider::settle`](super::Provider::settle) ends it.
    Pending {
        /// The lookups that still see it pending.
        lookups: u32,
    },
    /// No refund and never an answer. The key is in flight until the client hangs up.
    HangBefore,
    /// The refund is made, but the answer never comes.
    HangAfter,
    /// 500 without a refund. Stored: the same key gets the same 500.
    ErrorBefore,
    /// 500 although the refund was made. Stored: the same key gets the same 500.
    ErrorAfter,
    /// 401, as with a revoked API key. Nothing is stored.
    Unauthorized,
    /// 429. Nothing is stored.
    TooManyRequests,
    /// The connection is closed without an answer. No refund; nothing is stored.
    DropBefore,
    /// The refund is made; the connection is closed without an answer.
    DropAfter,
}
