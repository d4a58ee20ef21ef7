//! What the provider knows and how it decides: payments, refunds, used keys and what was ordered to go wrong.

mod lookup;

use std::collections::{BTreeMap, HashMap};

use super::{
    Seen,
    answer::{self, Answer},
    behavior::{Behavior, LookupBehavior, Scripts},
    idempotency::{Keys, Lookup, Scope, Stored},
    journal::{Journal, JournalError, Line},
    params::Create,
    refund::{Payment, Refund, RefundStatus, Turn, new_id, now},
    webhook::{Cause, Webhooks},
};

/// What to do with a connection.
#[derive(Debug)]
pub(super) enum Step {
    /// Answer.
    Answer(Answer),
    /// Answer as the first time, and say so.
    Replay(Answer),
    /// Never answer. The scope is in flight until the client hangs up.
    Hang(Option<Scope>),
    /// Close it.
    Drop,
}

/// The provider's state.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    payments: BTreeMap<String, Payment>,
    /// Oldest first.
    refunds: Vec<Refund>,
    keys: Keys,
    pub(super) creations: Scripts<Behavior>,
    pub(super) lookups: Scripts<LookupBehavior>,
    /// How the lookup is treated whose pages are being read, by payment.
    looking_up: HashMap<String, LookupBehavior>,
    pub(super) webhooks: Webhooks,
    requests: Vec<Seen>,
    journal: Option<Journal>,
}

impl Ledger {
    /// The state that a journal tells of.
    pub(super) fn restored(journal: Journal, lines: Vec<Line>) -> Self {
        let mut ledger = Self { journal: Some(journal), ..Self::default() };
        for line in lines {
            ledger.apply(line);
        }
        ledger
    }

    pub(super) fn register(&mut self, payment: Payment) {
        self.payments.insert(payment.id.clone(), payment);
    }

    pub(super) fn forget_keys(&mut self) {
        self.keys.forget();
    }

    pub(super) fn saw(&mut self, request: Seen) {
        self.requests.push(request);
    }

    pub(super) fn requests(&self) -> &[Seen] {
        &self.requests
    }

    pub(super) fn refunds(&self) -> &[Refund] {
        &self.refunds
    }

    pub(super) fn in_flight(&self) -> usize {
        self.keys.in_flight()
    }

    pub(super) fn abandon(&mut self, scope: &Scope) {
        self.keys.abandon(scope);
    }

    /// Gives all refunds of a payment that stand so another status.
    pub(super) fn turn(&mut self, payment: &str, from: RefundStatus, to: RefundStatus) -> Result<(), JournalError> {
        let concerned = |refund: &&Refund| refund.payment == payment && refund.status == from;
        for refund in self.refunds.iter().filter(concerned).cloned().collect::<Vec<_>>() {
            self.change(Refund { status: to, turn: None, ..refund })?;
        }
        Ok(())
    }

    /// Decides on a request to create a refund. `account` is empty for the API key's own.
    pub(super) fn create(&mut self, request: &Create, account: &str, key: Option<&str>) -> Step {
        let Some(payment) = self.payment(&request.payment, account).cloned() else {
            return Step::Answer(Answer::missing(request.payment_param, &request.payment, request.payment_param));
        };
        let behavior = self.creations.next(&payment.id);
        if let Some(step) = unexecuted(behavior) {
            self.creations.consume(&payment.id);
            return step;
        }
        let scope = key.map(|key| Scope { account: account.to_owned(), key: key.to_owned() });
        if let Some(scope) = &scope {
            match self.keys.look_up(scope, &request.canonical) {
                Lookup::Fresh => {}
                Lookup::Replay(answer) => return Step::Replay(answer),
                Lookup::Refused(answer) => return Step::Answer(answer),
            }
        }
        self.creations.consume(&payment.id);
        if behavior == Behavior::HangBefore {
            if let Some(scope) = scope.clone() {
                self.keys.begin(scope, request.canonical.clone());
            }
            return Step::Hang(scope);
        }
        let (refund, answer) = self.execute(&payment, request, behavior);
        let stored = scope.map(|scope| Stored { scope, params: request.canonical.clone(), answer: answer.clone() });
        let applied = refund.is_some();
        let cause = Cause::Request(key.map(ToOwned::to_owned));
        if let Err(error) = self.record(Line { refund, stored }, cause) {
            tracing::error!(error = &error as &dyn std::error::Error, "refund not made");
            return Step::Answer(Answer::server_error());
        }
        if applied && behavior == Behavior::HangAfter {
            return Step::Hang(None);
        }
        if applied && behavior == Behavior::DropAfter {
            return Step::Drop;
        }
        Step::Answer(answer)
    }

    /// The refund to make, if any, and the answer to its request.
    fn execute(&self, payment: &Payment, request: &Create, behavior: Behavior) -> (Option<Refund>, Answer) {
        let taken: i64 = self.of(&payment.id).filter(|refund| refund.counts()).map(|refund| refund.amount).sum();
        let left = payment.captured.saturating_sub(taken);
        if left < 1 {
            return (None, Answer::already_refunded(payment));
        }
        let amount = request.amount.unwrap_or(left);
        if amount > left {
            return (None, Answer::over_refund(amount, left));
        }
        if behavior == Behavior::Decline {
            return (None, Answer::declined());
        }
        if behavior == Behavior::ErrorBefore {
            return (None, Answer::server_error());
        }
        let (status, turn) = outcome(behavior);
        let refund = Refund {
            id: new_id("re"),
            payment: payment.id.clone(),
            charge: payment.charge(),
            account: payment.account.clone(),
            amount,
            currency: payment.currency.clone(),
            status,
            reason: request.reason.clone(),
            metadata: request.metadata.clone(),
            created: now(),
            turn,
        };
        let answer =
            if behavior == Behavior::ErrorAfter { Answer::server_error() } else { Answer::ok(answer::refund(&refund)) };
        (Some(refund), answer)
    }

    /// Changes a refund that nobody asked to be changed.
    fn change(&mut self, refund: Refund) -> Result<(), JournalError> {
        self.record(Line { refund: Some(refund), stored: None }, Cause::Time)
    }

    /// Writes a change down, makes it, and tells of it.
    fn record(&mut self, line: Line, cause: Cause) -> Result<(), JournalError> {
        if let Some(journal) = &mut self.journal {
            journal.append(&line)?;
        }
        let after = line.refund.clone();
        let before = after.as_ref().and_then(|after| self.refunds.iter().find(|known| known.id == after.id)).cloned();
        self.apply(line);
        if let Some(after) = after {
            self.webhooks.tell(before.as_ref(), &after, cause);
        }
        Ok(())
    }

    fn apply(&mut self, Line { refund, stored }: Line) {
        if let Some(refund) = refund {
            match self.refunds.iter_mut().find(|known| known.id == refund.id) {
                Some(known) => *known = refund,
                None => self.refunds.push(refund),
            }
        }
        if let Some(stored) = stored {
            self.keys.store(stored);
        }
    }

    /// The payment with this id, or with this charge, if the account sees it.
    fn payment(&self, id: &str, account: &str) -> Option<&Payment> {
        let payment =
            self.payments.get(id).or_else(|| self.payments.get(&format!("pi_{}", id.strip_prefix("ch_")?)))?;
        sees(account, &payment.account).then_some(payment)
    }

    fn of<'a>(&'a self, payment: &'a str) -> impl Iterator<Item = &'a Refund> {
        self.refunds.iter().filter(move |refund| refund.payment == payment)
    }
}

/// How a refund begins, and what it becomes by itself.
fn outcome(behavior: Behavior) -> (RefundStatus, Option<Turn>) {
    use RefundStatus::{Failed, Pending, Succeeded};
    match behavior {
        Behavior::Pending { lookups } => (Pending, Some(Turn { lookups, to: Succeeded })),
        Behavior::PendingThenFailed { lookups } => (Pending, Some(Turn { lookups, to: Failed })),
        Behavior::ComeBack { lookups } => (Succeeded, Some(Turn { lookups, to: Failed })),
        Behavior::Succeed
        | Behavior::Decline
        | Behavior::HangBefore
        | Behavior::HangAfter
        | Behavior::ErrorBefore
        | Behavior::ErrorAfter
        | Behavior::Unavailable
        | Behavior::InFlight
        | Behavior::Malformed
        | Behavior::Unauthorized
        | Behavior::TooManyRequests
        | Behavior::DropBefore
        | Behavior::DropAfter => (Succeeded, None),
    }
}

/// What strikes before the key is looked at, and so on repeated requests too.
fn unexecuted(behavior: Behavior) -> Option<Step> {
    match behavior {
        Behavior::Malformed => Some(Step::Answer(Answer::unknown_parameter("amnt"))),
        Behavior::Unauthorized => Some(Step::Answer(Answer::unauthorized())),
        Behavior::TooManyRequests => Some(Step::Answer(Answer::too_many_requests())),
        Behavior::Unavailable => Some(Step::Answer(Answer::unavailable())),
        Behavior::InFlight => Some(Step::Answer(Answer::key_in_use())),
        Behavior::DropBefore => Some(Step::Drop),
        Behavior::Succeed
        | Behavior::Decline
        | Behavior::Pending { .. }
        | Behavior::PendingThenFailed { .. }
        | Behavior::ComeBack { .. }
        | Behavior::HangBefore
        | Behavior::HangAfter
        | Behavior::ErrorBefore
        | Behavior::ErrorAfter
        | Behavior::DropAfter => None,
    }
}

/// A request that names no account is made with the key of whichever account owns what it asks for.
fn sees(account: &str, owner: &str) -> bool {
    account.is_empty() || account == owner
}
