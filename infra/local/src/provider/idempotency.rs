//! Used idempotency keys: <https://docs.stripe.com/api/idempotent_requests>.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{answer::Answer, params::Pairs};

/// A key, within the account that used it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Scope {
    /// The `Stripe-Account` header; empty for the API key's own account.
    pub(super) account: String,
    pub(super) key: String,
}

/// What is kept of a key's first request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) scope: Scope,
    pub(super) params: Pairs,
    pub(super) answer: Answer,
}

#[derive(Debug)]
struct Used {
    params: Pairs,
    /// `None` while the first request is in flight.
    answer: Option<Answer>,
}

/// What a key says about a request.
#[derive(Debug)]
pub(super) enum Lookup {
    /// Not used so far.
    Fresh,
    /// Answered before; the same answer again.
    Replay(Answer),
    /// Used with other parameters, or in flight.
    Refused(Answer),
}

/// All used keys.
#[derive(Debug, Default)]
pub(super) struct Keys(HashMap<Scope, Used>);

impl Keys {
    pub(super) fn look_up(&self, scope: &Scope, params: &Pairs) -> Lookup {
        match self.0.get(scope) {
            None => Lookup::Fresh,
            Some(used) if used.params != *params => Lookup::Refused(Answer::key_reused()),
            Some(Used { answer: None, .. }) => Lookup::Refused(Answer::key_in_use()),
            Some(Used { answer: Some(answer), .. }) => Lookup::Replay(answer.clone()),
        }
    }

    /// Marks a key as in flight.
    pub(super) fn begin(&mut self, scope: Scope, params: Pairs) {
        self.0.insert(scope, Used { params, answer: None });
    }

    /// The keys whose first request has not been answered.
    pub(super) fn in_flight(&self) -> usize {
        self.0.values().filter(|used| used.answer.is_none()).count()
    }

    /// Takes the mark off, if the request ended without an answer.
    pub(super) fn abandon(&mut self, scope: &Scope) {
        if self.0.get(scope).is_some_and(|used| used.answer.is_none()) {
            self.0.remove(scope);
        }
    }

    /// Keeps the first answer.
    pub(super) fn store(&mut self, Stored { scope, params, answer }: Stored) {
        self.0.insert(scope, Used { params, answer: Some(answer) });
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}
