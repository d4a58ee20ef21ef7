//! Asking: a numbered command becomes the product's own, and its answer a few words.

use countersign::bounded::Nonce;
use countersign::change::Snapshot;
use countersign::clock::Timestamp;
use countersign::command::{Command, Decision};
use countersign::consent::{Choice, Decide, Decided, Desk, Owners, Revoke, Verdict};
use countersign::delivery::{
    Cancel, Claim, Claimed, Evidence, Found, Provider as _, Record, Resolution, Resolve, Sent, Target, Ticket,
};
use countersign::failure::Failure;
use countersign::key::Key;
use countersign::operation::Operation;
use countersign::submit::{Accepted, Submit};
use refunds::Refund;

use super::{Cmd, Order, Product, letters, moment};
use crate::provider::{Promises, Reply, Sight};

impl Product {
    fn target(&self, operation: u8) -> Target {
        let operation = self.operations[usize::from(operation)].clone();
        Target { tenant: self.people.agent.tenant.clone(), operation }
    }

    pub(super) fn ask(&self, order: Order, seen: Option<(&Snapshot, Timestamp)>) -> Asked {
        let nonce = Nonce::parse(&letters(order.nonce.into())).unwrap();
        let people = &self.people;
        match order.cmd {
            Cmd::Submit { intent, key } => {
                let (intent, key) = (self.intents[usize::from(intent)].clone(), &self.keys_used[usize::from(key)]);
                let submit = Submit::<Refund>::new(&people.agent, intent, key, &people.consent_keys).unwrap();
                put(&submit.under(nonce), seen, accepted)
            }
            Cmd::Approve { intent } => {
                let (id, shown) = (self.intents[usize::from(intent)].clone(), self.digests[usize::from(intent)]);
                let acknowledged = self.named[usize::from(intent)].clone();
                let choice = Choice { intent: id, shown, verdict: Verdict::Approval, acknowledged };
                let owners = Owners::default();
                let desk = Desk { signer: &people.consent_signer, keys: &people.consent_keys, owners: &owners };
                let decide = Decide::<Refund>::new(&people.approver, choice, desk).unwrap();
                put(&decide.under(nonce), seen, |_: Decided| Raw::Done)
            }
            Cmd::Revoke { intent } => {
                let revoke = Revoke::new(&people.approver, self.intents[usize::from(intent)].clone());
                put(&revoke, seen, |()| Raw::Done)
            }
            Cmd::Claim { operation } => {
                let claim = Claim::<Refund, _>::new(self.target(operation), &Promises, &people.consent_keys).unwrap();
                put(&claim.under(nonce), seen, |claimed| match claimed {
                    Claimed::Ticket(ticket) => Raw::Ticket(ticket),
                    Claimed::Nothing(_) => Raw::Done,
                })
            }
            Cmd::Record { ticket, reply } => {
                let Ticket { operation, request } = &*self.tickets[ticket as usize];
                let ticket = Ticket { operation: operation.clone(), request: request.clone() };
                put(&Record::new(ticket, sent(reply)).unwrap().under(nonce), seen, |_| Raw::Done)
            }
            Cmd::Evidence { operation, sight, since } => {
                let (target, terms) = (self.target(operation), Promises::TERMS);
                let evidence = Evidence::<Refund>::new(target, found(sight), moment(since), terms).unwrap();
                put(&evidence.under(nonce), seen, |_| Raw::Done)
            }
            Cmd::Cancel { operation } => {
                let cancel =
                    Cancel::<Refund>::new(&people.agent, self.operations[usize::from(operation)].clone()).unwrap();
                put(&cancel.under(nonce), seen, |_| Raw::Done)
            }
            Cmd::Resolve { operation, happened } => {
                let resolution = if happened { Resolution::Succeeded } else { Resolution::Failed };
                let operation = self.operations[usize::from(operation)].clone();
                let resolve = Resolve::<Refund>::new(&people.operator, operation, resolution, "the dashboard").unwrap();
                put(&resolve.under(nonce), seen, |_| Raw::Done)
            }
        }
    }
}

pub(super) enum Asked {
    Keys(Vec<Key>),
    Decided(Result<Decision<Raw>, Failure>),
}

pub(super) enum Raw {
    Done,
    Accepted { receipt: String, replayed: bool },
    Ticket(Box<Ticket<Refund>>),
}

fn put<C: Command>(command: &C, seen: Option<(&Snapshot, Timestamp)>, raw: impl FnOnce(C::Answer) -> Raw) -> Asked {
    let Some((snapshot, now)) = seen else { return Asked::Keys(command.keys()) };
    Asked::Decided(command.decide(snapshot, now).map(|decision| match decision {
        Decision::Answer(answer) => Decision::Answer(raw(answer)),
        Decision::Commit(change, answer) => Decision::Commit(change, raw(answer)),
        Decision::Need(keys) => Decision::Need(keys),
    }))
}

fn accepted(accepted: Accepted<Refund>) -> Raw {
    let Operation { id, intent_id, effect, accepted_at, requester, .. } = accepted.operation;
    let effect = serde_json::to_string(&effect).unwrap();
    let accepted_at = Some(accepted_at.seconds());
    let receipt = format!("{id} {intent_id} {effect} {accepted_at:?} {}", requester.principal);
    Raw::Accepted { receipt, replayed: accepted.replayed }
}

fn reference(refund: u8) -> String {
    format!("re_{refund}")
}

fn sent(reply: Reply) -> Sent {
    match reply {
        Reply::Happened(refund) => Sent::Happened(reference(refund)),
        Reply::Accepted(refund) => Sent::Accepted(reference(refund)),
        Reply::Refused => Sent::Refused("declined".to_owned()),
        Reply::NotExecuted => Sent::NotExecuted("429".to_owned()),
        Reply::Unknown => Sent::Unknown("no reply".to_owned()),
    }
}

fn found(sight: Sight) -> Found {
    match sight {
        Sight::Happened(refund) => Found::Happened(reference(refund)),
        Sight::Accepted(refund) => Found::Accepted(reference(refund)),
        Sight::Undone(refund) => Found::Undone { reference: reference(refund), reason: "failed".to_owned() },
        Sight::Absent => Found::Absent,
        Sight::Contradiction => Found::Contradiction("two of one intent".to_owned()),
        Sight::Nothing => Found::Nothing("no answer".to_owned()),
    }
}
