//! What the provider knows and how it decides: payments, refunds, used keys and what was ordered to go wrong.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::{
    Seen,
    answer::{self, Answer},
    behavior::Behavior,
    idempotency::{Keys, Lookup, Scope, Stored},
    journal::{Journal, JournalError, Line},
    params::{Create, List},
    refund::{Payment, Refund, RefundStatus, new_id, now},
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
    scripts: HashMap<String, VecDeque<Behavior>>,
    always: HashMap<String, Behavior>,
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

    pub(super) fn script(&mut self, payment: &str, behavior: Behavior) {
        self.scripts.entry(payment.to_owned()).or_default().push_back(behavior);
    }

    pub(super) fn always(&mut self, payment: &str, behavior: Behavior) {
        self.always.insert(payment.to_owned(), behavior);
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

    pub(super) fn settle(&mut self, payment: &str, status: RefundStatus) -> Result<(), JournalError> {
        let pending = |refund: &&Refund| refund.payment == payment && refund.status == RefundStatus::Pending;
        for refund in self.refunds.iter().filter(pending).cloned().collect::<Vec<_>>() {
            self.record(Line { refund: Some(Refund { status, ..refund }), stored: None })?;
        }
        Ok(())
    }

    /// Decides on a request to create a refund. `account` is empty for the API key's own.
    pub(super) fn create(&mut self, request: &Create, account: &str, key: Option<&str>) -> Step {
        let Some(payment) = self.payment(&request.payment, account).cloned() else {
            return Step::Answer(Answer::missing(request.payment_param, &request.payment, request.payment_param));
        };
        let behavior = self.next_behavior(&payment.id);
        if let Some(step) = unexecuted(behavior) {
            self.consume(&payment.id);
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
        self.consume(&payment.id);
        if behavior == Behavior::HangBefore {
            if let Some(scope) = scope.clone() {
                self.keys.begin(scope, request.canonical.clone());
            }
            return Step::Hang(scope);
        }
        let (refund, answer) = self.execute(&payment, request, behavior);
        let stored = scope.map(|scope| Stored { scope, params: request.canonical.clone(), answer: answer.clone() });
        let applied = refund.is_some();
        if let Err(error) = self.record(Line { refund, stored }) {
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
        let pending_lookups = if let Behavior::Pending { lookups } = behavior { Some(lookups) } else { None };
        let refund = Refund {
            id: new_id(),
            payment: payment.id.clone(),
            charge: payment.charge(),
            account: payment.account.clone(),
            amount,
            currency: payment.currency.clone(),
            status: if pending_lookups.is_some() { RefundStatus::Pending } else { RefundStatus::Succeeded },
            reason: request.reason.clone(),
            metadata: request.metadata.clone(),
            created: now(),
            pending_lookups,
        };
        let answer =
            if behavior == Behavior::ErrorAfter { Answer::server_error() } else { Answer::ok(answer::refund(&refund)) };
        (Some(refund), answer)
    }

    /// One refund. Looking it up may be what settles it.
    pub(super) fn retrieve(&mut self, id: &str, account: &str) -> Answer {
        self.looked_up(|refund| refund.id == id);
        let visible = |refund: &&Refund| refund.id == id && sees(account, &refund.account);
        self.refunds
            .iter()
            .find(visible)
            .map_or_else(|| Answer::not_found("refund", id), |refund| Answer::ok(answer::refund(refund)))
    }

    /// A page of refunds, newest first. Looking them up may be what settles them.
    pub(super) fn list(&mut self, list: &List, account: &str) -> Answer {
        if let Some(payment) = &list.payment {
            if self.payment(payment, account).is_none() {
                return Answer::missing("payment_intent", payment, "payment_intent");
            }
            self.looked_up(|refund| refund.payment == *payment);
        }
        let visible = |refund: &&Refund| {
            sees(account, &refund.account) && list.payment.as_ref().is_none_or(|payment| refund.payment == *payment)
        };
        let newest_first: Vec<_> = self.refunds.iter().rev().filter(visible).collect();
        let start = match &list.starting_after {
            None => 0,
            Some(id) => match newest_first.iter().position(|refund| refund.id == *id) {
                Some(position) => position + 1,
                None => return Answer::missing("refund", id, "starting_after"),
            },
        };
        let page: Vec<_> =
            newest_first.iter().skip(start).take(list.limit).map(|refund| answer::refund(refund)).collect();
        let has_more = newest_first.len() > start.saturating_add(page.len());
        Answer::ok(answer::list(page, has_more))
    }

    /// Counts a lookup of the pending refunds that match, and settles those whose time has come.
    fn looked_up(&mut self, matches: impl Fn(&Refund) -> bool) {
        let mut settled = Vec::new();
        for refund in self.refunds.iter_mut().filter(|refund| refund.status == RefundStatus::Pending && matches(refund))
        {
            match refund.pending_lookups {
                Some(0) => settled.push(Refund { status: RefundStatus::Succeeded, ..refund.clone() }),
                Some(left) if left < u32::MAX => refund.pending_lookups = Some(left - 1),
                Some(_) | None => {}
            }
        }
        for refund in settled {
            if let Err(error) = self.record(Line { refund: Some(refund), stored: None }) {
                tracing::error!(error = &error as &dyn std::error::Error, "refund not settled");
            }
        }
    }

    /// Writes a change down, then makes it.
    fn record(&mut self, line: Line) -> Result<(), JournalError> {
        if let Some(journal) = &mut self.journal {
            journal.append(&line)?;
        }
        self.apply(line);
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

    fn next_behavior(&self, payment: &str) -> Behavior {
        let scripted = self.scripts.get(payment).and_then(|script| script.front());
        scripted.or_else(|| self.always.get(payment)).copied().unwrap_or_default()
    }

    fn consume(&mut self, payment: &str) {
        if let Some(script) = self.scripts.get_mut(payment) {
            script.pop_front();
        }
    }
}

/// What strikes before the key is looked at, and so on repeated requests too.
fn unexecuted(behavior: Behavior) -> Option<Step> {
    match behavior {
        Behavior::Unauthorized => Some(Step::Answer(Answer::unauthorized())),
        Behavior::TooManyRequests => Some(Step::Answer(Answer::too_many_requests())),
        Behavior::DropBefore => Some(Step::Drop),
        Behavior::Succeed
        | Behavior::Decline
        | Behavior::Pending { .. }
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
