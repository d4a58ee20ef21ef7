//! The ways in which the provider can treat a request: one to create a refund, one to look refunds up.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

/// What becomes of one request to create a refund.
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
    /// The same, but it is `failed` from the next lookup on.
    PendingThenFailed {
        /// The lookups that still see it pending.
        lookups: u32,
    },
    /// The refund has succeeded, and from the lookup after so many on it is `failed`: the money came back
    /// (<https://docs.stripe.com/refunds#failed-refunds>). [`Provider::come_back`](super::Provider::come_back) does it
    /// at once.
    ComeBack {
        /// The lookups that still see it succeeded.
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
    /// 503 without a refund. Nothing is stored.
    Unavailable,
    /// 409, as if another request with this key were in flight. No refund; nothing is stored.
    InFlight,
    /// 400, as if the request held a parameter that the provider does not know. Nothing is stored.
    Malformed,
    /// 401, as with a revoked API key. Nothing is stored.
    Unauthorized,
    /// 429. Nothing is stored.
    TooManyRequests,
    /// The connection is closed without an answer. No refund; nothing is stored.
    DropBefore,
    /// The refund is made; the connection is closed without an answer.
    DropAfter,
}

/// What becomes of one lookup: of a list of a payment's refunds, with all its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LookupBehavior {
    /// What is there is shown.
    #[default]
    Honest,
    /// What was made less than so long ago is not shown, to the second.
    Lag(Duration),
    /// No refund is shown.
    Hide,
    /// 500.
    Error,
    /// 401.
    Unauthorized,
    /// 404: no such payment.
    NotFound,
    /// 429.
    TooManyRequests,
    /// Never an answer.
    Hang,
    /// The connection is closed without an answer.
    Drop,
    /// Each refund is shown with one minor unit more.
    OtherAmount,
    /// Each refund is shown in another currency.
    OtherCurrency,
    /// Each refund is shown as another payment's.
    OtherPayment,
    /// Each refund is shown twice, under two ids.
    Twice,
    /// Each page shows one refund, of somebody else's, and says that there are more.
    Endless,
    /// Each page is the first one, and says that there are more.
    Loop,
}

/// Behaviors by payment: those that are queued up, each for one request, and what holds when none is.
#[derive(Debug)]
pub(super) struct Scripts<B> {
    queued: HashMap<String, VecDeque<B>>,
    always: HashMap<String, B>,
}

impl<B> Default for Scripts<B> {
    fn default() -> Self {
        Self { queued: HashMap::new(), always: HashMap::new() }
    }
}

impl<B: Copy + Default> Scripts<B> {
    pub(super) fn queue(&mut self, payment: &str, behavior: B) {
        self.queued.entry(payment.to_owned()).or_default().push_back(behavior);
    }

    pub(super) fn always(&mut self, payment: &str, behavior: B) {
        self.always.insert(payment.to_owned(), behavior);
    }

    pub(super) fn forget(&mut self, payment: &str) {
        self.queued.remove(payment);
        self.always.remove(payment);
    }

    /// What the next request meets with. It stays the next until it is [consumed](Self::consume).
    pub(super) fn next(&self, payment: &str) -> B {
        let queued = self.queued.get(payment).and_then(|queue| queue.front());
        queued.or_else(|| self.always.get(payment)).copied().unwrap_or_default()
    }

    pub(super) fn consume(&mut self, payment: &str) {
        if let Some(queue) = self.queued.get_mut(payment) {
            queue.pop_front();
        }
    }
}
