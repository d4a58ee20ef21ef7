//! What the tables hold about one proposal, and where it stands, in a person's words.

use axum::http::StatusCode;
use countersign::bounded::{IntentId, Tenant};
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::consent::{self, Consent, Outlook, Verdict};
use countersign::effect::Effect as _;
use countersign::failure::{Code, Failure};
use countersign::intent::Intent;
use countersign::ledger::Ledger as _;
use countersign::operation::{self, Operation, State};
use refunds::{Blocked, Order, ProposalId, Refund};

use crate::approval_page::ApprovalPage;
use crate::refusal::Refusal;
use crate::text::{ahead, moment};

/// What the tables hold about a proposal.
pub(crate) struct Found {
    pub(crate) intent: Intent<Refund>,
    pub(crate) consent: Option<Consent>,
    pub(crate) order: Option<Order>,
    pub(crate) operation: Option<Operation<Refund>>,
    /// Whether an operator has stopped all refunds.
    held: bool,
    /// Why submitting it would be refused now, although it is approved.
    pub(crate) hindered: Option<Refusal>,
}

/// The intent that an address names. What can be none is not there.
pub(crate) fn intent_id(id: &str) -> Result<IntentId, Failure> {
    ProposalId::parse(id).map_err(|_| Failure::not_found("proposal"))?.intent()
}

impl Found {
    /// Two requests.
    pub(crate) async fn load(page: &ApprovalPage, tenant: &Tenant, id: &IntentId) -> Result<Self, Failure> {
        let [intent_key, consent_key] = [Intent::<Refund>::key(tenant, id), consent::key(tenant, id)];
        let seen = page.ledger.load(&[intent_key.clone(), consent_key.clone()]).await?;
        let intent = seen.item(&intent_key).map(Intent::<Refund>::read).transpose()?.flatten();
        let intent = intent.ok_or_else(|| Failure::not_found("proposal"))?;
        let consent = seen.item(&consent_key).map(|item| Consent::read(item, &page.keys)).transpose();
        let consent = consent.map_err(Failure::internal)?;
        let order_key = intent.effect.subject(tenant);
        let operation_key = intent.consumed_by.as_ref().map(|id| operation::key(tenant, id));
        let mut keys = vec![order_key.clone(), Blocked::key()?];
        keys.extend(operation_key.clone());
        let seen = page.ledger.load(&keys).await?;
        let operation = operation_key.and_then(|key| seen.item(&key)).map(Operation::<Refund>::read);
        Ok(Self {
            order: seen.item(&order_key).map(Order::read).transpose()?,
            operation: operation.transpose()?.flatten(),
            held: Blocked::all(&seen),
            hindered: None,
            intent,
            consent,
        })
    }

    /// Notes what submitting it would meet, if it is approved and that has not lapsed. Two requests then, and at most three
    /// more for the refunds that it could be taken for.
    pub(crate) async fn foresee(&mut self, page: &ApprovalPage, now: Timestamp) -> Result<(), Failure> {
        let counts = |consent: &&Consent| consent.statement().expires_at > now.seconds();
        let Some(consent) = self.consent.as_ref().filter(counts).filter(|_| self.open(now)) else { return Ok(()) };
        let outlook = Outlook(vec![(&self.intent, consent)]);
        let told = execute(&page.ledger, &Timestamp::now, &outlook).await?;
        self.hindered = told.into_iter().find_map(Result::err).and_then(Refusal::hindering);
        Ok(())
    }

    /// Whether it can still be submitted, once it is approved.
    pub(crate) fn open(&self, now: Timestamp) -> bool {
        self.intent.consumed_by.is_none() && !self.intent.expired(now) && !self.ended()
    }

    /// Whether a person has said no to it, first or in the end.
    fn ended(&self) -> bool {
        self.consent
            .as_ref()
            .is_some_and(|consent| consent.statement().kind == Verdict::Rejection || consent.is_revoked())
    }

    /// Whether taking the approval back would still stop something: the worker asks for it anew before it sends, be it
    /// for the first time or again.
    pub(crate) fn revocable(&self) -> bool {
        let approved = self.consent.is_some() && !self.ended();
        approved && self.operation.as_ref().is_none_or(|now| now.state == State::Queued)
    }

    /// What comes of taking the approval back.
    pub(crate) fn revoking(&self) -> &'static str {
        match self.attempts() {
            0 if self.operation.is_none() => "It can then not be submitted any more.",
            0 => "It is then not sent, and what was reserved for it can be refunded again.",
            _ => "It is then not tried again, and an operator has to close it.",
        }
    }

    /// How often it was begun to be sent.
    pub(crate) fn attempts(&self) -> i64 {
        self.operation.as_ref().map_or(0, |operation| operation.attempts)
    }

    /// What keeps it from being submitted or sent, whoever approves it: what is the matter, and what that means.
    pub(crate) fn blocked(&self, now: Timestamp) -> Option<(&'static str, &'static str)> {
        let waits = self.operation.as_ref().is_some_and(|operation| operation.state == State::Queued);
        if !waits && !self.open(now) {
            return None;
        }
        if self.order.as_ref().is_some_and(|order| order.conflicts > 0) {
            return Some((
                "Refunds of this order are stopped.",
                "The payment provider contradicts what is on record of one of them. Until an operator has put that \
                right, nothing of this order is approved, submitted or sent.",
            ));
        }
        self.held.then_some((
            "An operator has stopped all refunds.",
            "Nothing is submitted or sent until they are released; an approval may have lapsed by then.",
        ))
    }

    /// What the refund does to the order, where it still can, in a sentence.
    pub(crate) fn leaves(&self, now: Timestamp) -> Option<String> {
        let (order, refund) = (self.order.as_ref()?, &self.intent.effect);
        let left = order.refundable_minor.get() - refund.amount_minor.get();
        if !self.open(now) || self.hindered.is_some() || order.currency != refund.currency || left < 0 {
            return None;
        }
        let money = |minor| order.currency.format(minor);
        let gone = order.refunded_minor.get() + order.reserved_minor.get();
        let gone = if gone == 0 { String::new() } else { format!("{} went back or is on its way, and ", money(gone)) };
        let paid = money(order.captured_minor.get());
        Some(format!("Of the {paid} paid for the order, {gone}{} is left after this one.", money(left)))
    }

    /// Where it stands, in a few sentences.
    pub(crate) fn standing(&self, now: Timestamp) -> String {
        if let Some(operation) = &self.operation {
            let became = [Some(became(operation, self.ended())), stops(operation).filter(|_| self.ended())];
            let became: Vec<_> = became.into_iter().flatten().collect();
            return format!("{} It was submitted as {} ({}).", became.join(" "), operation.id, operation.state);
        }
        match &self.consent {
            Some(consent) => {
                let said = consent.statement();
                let when = moment(Timestamp::from_seconds(said.decided_at));
                let lapses = Timestamp::from_seconds(said.expires_at);
                match (said.kind, consent.is_revoked()) {
                    (Verdict::Rejection, _) => format!("{} rejected it at {when}.", said.approver),
                    (Verdict::Approval, true) => {
                        format!("{} approved it at {when}; that was taken back.", said.approver)
                    }
                    (Verdict::Approval, false) if lapses <= now => format!(
                        "{} approved it at {when}. It was not submitted before the approval lapsed, at {}.",
                        said.approver,
                        moment(lapses)
                    ),
                    (Verdict::Approval, false) if self.hindered.is_some() => {
                        format!("{} approved it at {when}. It is not submitted.", said.approver)
                    }
                    (Verdict::Approval, false) => format!(
                        "{} approved it at {when}. It is not submitted yet; the approval lapses {}.",
                        said.approver,
                        ahead(lapses, now)
                    ),
                }
            }
            None if self.intent.expired(now) => format!("It lapsed at {}.", moment(self.intent.expires_at)),
            None => format!("Nobody has decided yet. It lapses {}.", ahead(self.intent.expires_at, now)),
        }
    }

    /// What became of an approval, where there is nothing left to take back.
    pub(crate) fn too_late(&self) -> Refusal {
        let title = match &self.operation {
            Some(_) => "It is too late to take the approval back",
            None => "There is no approval to take back",
        };
        let standing = self.standing(Timestamp::now());
        Refusal::new(StatusCode::CONFLICT, Code::ALREADY_DECIDED.as_str(), title, &standing)
    }
}

/// What became of a refund that was submitted.
fn became(operation: &Operation<Refund>, revoked: bool) -> &'static str {
    if operation.conflict {
        return "The payment provider contradicts what is on record of this refund; an operator has to put it right.";
    }
    let by_word = operation.resolution.is_some();
    match operation.state {
        State::Queued => match (operation.attempts, revoked) {
            (0, false) => "It waits to be sent.",
            (0, true) => "Its approval was taken back: it will not be sent.",
            (_, false) => "It was tried without effect, and will be tried again.",
            (_, true) => {
                "It was tried without effect, and its approval was taken back: it will not be tried again. An operator \
                has to close it."
            }
        },
        State::Sending => "It is being sent to the payment provider.",
        State::Settling => "The payment provider has accepted it and has not finished yet.",
        State::Unknown => "It was sent, and whether it happened is not known yet: the payment provider is being asked.",
        State::Succeeded if by_word => "An operator found that the refund was carried out.",
        State::Succeeded => "The refund was carried out.",
        State::Returned => "The refund was carried out, and the amount came back.",
        State::Failed if by_word => "An operator found that nothing was refunded.",
        State::Failed => "The payment provider refused it; nothing was refunded.",
        State::Cancelled => "It was stopped before it was sent; nothing was refunded.",
        State::Expired => "It was not sent in time; nothing was refunded.",
        State::NeedsOperator => "An operator has to find out what became of it.",
    }
}

/// What comes of it that the approval of a refund was taken back which has been sent; `None` where that is told already.
const fn stops(operation: &Operation<Refund>) -> Option<&'static str> {
    match operation.state {
        State::Queued => None,
        State::Sending | State::Unknown => Some(
            "Its approval was taken back meanwhile: if it turns out not to be there, it is not sent again, and an \
            operator has to close it.",
        ),
        State::Settling | State::Succeeded | State::Returned => {
            Some("Its approval was taken back, too late to stop it.")
        }
        State::NeedsOperator => Some("Its approval was taken back: it is not sent again."),
        State::Failed | State::Cancelled | State::Expired => Some("Its approval was taken back."),
    }
}
