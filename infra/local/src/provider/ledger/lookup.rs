//! Looking refunds up, and what can be wrong with what is shown.

use serde_json::{Value, json};

use super::super::{
    answer::{self, Answer},
    behavior::LookupBehavior,
    params::List,
    refund::{Refund, new_id, now},
};
use super::{Ledger, Step, sees};

impl Ledger {
    /// One refund. Looking it up may be what settles it.
    pub(in super::super) fn retrieve(&mut self, id: &str, account: &str) -> Answer {
        self.looked_up(|refund| refund.id == id);
        let visible = |refund: &&Refund| refund.id == id && sees(account, &refund.account);
        self.refunds
            .iter()
            .find(visible)
            .map_or_else(|| Answer::not_found("refund", id), |refund| Answer::ok(answer::refund(refund)))
    }

    /// A page of refunds, as the payment's script for lookups says.
    pub(in super::super) fn list(&mut self, list: &List, account: &str) -> Step {
        let behavior = list.payment.as_deref().map_or(LookupBehavior::Honest, |payment| self.treats(payment, list));
        let payment = list.payment.as_deref().unwrap_or_default();
        let honest = |ledger: &mut Self| ledger.page(list, account, |_| true);
        let answer = match behavior {
            LookupBehavior::Hang => return Step::Hang(None),
            LookupBehavior::Drop => return Step::Drop,
            LookupBehavior::Error => Answer::server_error(),
            LookupBehavior::Unauthorized => Answer::unauthorized(),
            LookupBehavior::NotFound => Answer::not_found("payment_intent", payment),
            LookupBehavior::TooManyRequests => Answer::too_many_requests(),
            LookupBehavior::Honest => honest(self),
            LookupBehavior::Hide => self.page(list, account, |_| false),
            LookupBehavior::Lag(lag) => {
                self.page(list, account, |refund| refund.created.saturating_add(lag.as_secs()) <= now())
            }
            LookupBehavior::OtherAmount => each(honest(self), |refund| {
                let amount = refund.get("amount").and_then(Value::as_i64).unwrap_or_default();
                vec![with(refund, "amount", json!(amount.saturating_add(1)))]
            }),
            LookupBehavior::OtherCurrency => each(honest(self), |refund| vec![with(refund, "currency", json!("xts"))]),
            LookupBehavior::OtherPayment => {
                each(honest(self), |refund| vec![with(refund, "payment_intent", json!("pi_another"))])
            }
            LookupBehavior::Twice => {
                each(honest(self), |refund| vec![refund.clone(), with(refund, "id", json!(new_id("re")))])
            }
            LookupBehavior::Endless => {
                let stranger = json!({
                    "id": new_id("re"), "object": "refund", "amount": 1, "currency": "usd", "metadata": {},
                    "payment_intent": payment, "status": "succeeded",
                });
                Answer::ok(answer::list(vec![stranger], true))
            }
            LookupBehavior::Loop => {
                let first = List { starting_after: None, ..list.clone() };
                more(self.page(&first, account, |_| true))
            }
        };
        Step::Answer(answer)
    }

    /// How a lookup is treated: its first page takes the next of the script, the others follow it.
    fn treats(&mut self, payment: &str, list: &List) -> LookupBehavior {
        if list.starting_after.is_some() {
            return self.looking_up.get(payment).copied().unwrap_or_default();
        }
        let behavior = self.lookups.next(payment);
        self.lookups.consume(payment);
        self.looking_up.insert(payment.to_owned(), behavior);
        behavior
    }

    /// A page of refunds, newest first. Looking them up may be what settles them.
    fn page(&mut self, list: &List, account: &str, shown: impl Fn(&Refund) -> bool) -> Answer {
        if let Some(payment) = &list.payment {
            if self.payment(payment, account).is_none() {
                return Answer::missing("payment_intent", payment, "payment_intent");
            }
            self.looked_up(|refund| refund.payment == *payment && shown(refund));
        }
        let visible = |refund: &&Refund| {
            let asked_for = list.payment.as_ref().is_none_or(|payment| refund.payment == *payment);
            asked_for && sees(account, &refund.account) && shown(refund)
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

    /// Counts a lookup of the refunds that match, and changes those whose time has come.
    fn looked_up(&mut self, matches: impl Fn(&Refund) -> bool) {
        let mut changed = Vec::new();
        for refund in self.refunds.iter_mut().filter(|refund| matches(refund)) {
            match &mut refund.turn {
                Some(turn) if turn.lookups == 0 => {
                    changed.push(Refund { status: turn.to, turn: None, ..refund.clone() });
                }
                Some(turn) if turn.lookups < u32::MAX => turn.lookups -= 1,
                Some(_) | None => {}
            }
        }
        for refund in changed {
            if let Err(error) = self.change(refund) {
                tracing::error!(error = &error as &dyn std::error::Error, "refund not changed");
            }
        }
    }
}

/// The same list with each refund replaced.
fn each(mut answer: Answer, shown: impl Fn(&Value) -> Vec<Value>) -> Answer {
    if let Some(data) = answer.body.get_mut("data").and_then(Value::as_array_mut) {
        *data = data.iter().flat_map(shown).collect();
    }
    answer
}

/// The same list, saying that it goes on.
fn more(mut answer: Answer) -> Answer {
    if let Some(list) = answer.body.as_object_mut() {
        list.insert("has_more".to_owned(), Value::from(true));
    }
    answer
}

fn with(refund: &Value, member: &str, value: Value) -> Value {
    let mut refund = refund.clone();
    if let Some(refund) = refund.as_object_mut() {
        refund.insert(member.to_owned(), value);
    }
    refund
}
