//! The provider: refunds by idempotency key, first answers given again within its window, lookups that may lag.

use countersign::bounded::{IntentId, Tenant};
use countersign::delivery::{Found, Provider as Port, Sent, Terms, Unsayable};
use refunds::Refund;
use std::time::Duration;

/// For how long the first answer to a key is given again.
pub const WINDOW: u32 = 24 * 60 * 60;
/// Within how long a lookup may miss what has happened.
pub const LAG: u32 = 60;

/// What it promises; of its own it says only how a request reads.
pub struct Promises;

impl Port<Refund> for Promises {
    const TERMS: Terms = Terms {
        duplicate_window: Some(Duration::from_secs(WINDOW as u64)),
        lookup_lag: Some(Duration::from_secs(LAG as u64)),
        compares_body: true,
    };

    fn request(&self, _: &Tenant, intent: &IntentId, refund: &Refund) -> Result<String, Unsayable> {
        Ok(format!("refund {} of {} for {intent}", refund.amount_minor.get(), refund.payment))
    }

    async fn send(&self, _: &IntentId, _: &str, _: i64) -> Sent {
        unreachable!("the explorer's actors send by themselves")
    }

    async fn look_up(&self, _: &IntentId, _: &str) -> Found {
        unreachable!("the explorer's actors look by themselves")
    }
}

/// How far a refund has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    Pending,
    Succeeded,
    Failed,
}

/// One refund that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Made {
    pub intent: u8,
    pub created: u32,
    pub status: Status,
    /// What it was before its status changed, and when it did: a lookup may still see that.
    pub before: Option<(Status, u32)>,
}

/// What a request was answered with, in the product's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reply {
    Happened(u8),
    Accepted(u8),
    Refused,
    NotExecuted,
    Unknown,
}

/// What a lookup has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sight {
    Happened(u8),
    Accepted(u8),
    Undone(u8),
    Absent,
    Contradiction,
    Nothing,
}

/// How one request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Passage {
    /// It is executed and answered, or the first answer is given again.
    Well,
    /// It is accepted and not final.
    Pending,
    /// It is refused for good.
    Declined,
    /// An error is stored as the answer to its key, and nothing is executed.
    Error,
    /// It is turned away and not remembered.
    Limited,
    /// It is executed and the reply does not come.
    Unheard,
    /// It never arrives, and nobody hears of it.
    Dropped,
    /// Nobody hears of it, and it arrives some time later.
    Delayed,
}

/// What the product's adapter makes of a first answer that is given again: what had happened then was accepted.
fn again(first: Reply) -> Reply {
    match first {
        Reply::Happened(refund) => Reply::Accepted(refund),
        Reply::Accepted(_) | Reply::Refused | Reply::NotExecuted | Reply::Unknown => first,
    }
}

/// The provider's books.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Provider {
    pub refunds: Vec<Made>,
    /// The first answers, by key, and when they were given.
    pub answers: Vec<(u8, Reply, u32)>,
    /// Requests on their way with nobody waiting for them: key and intent.
    pub transit: Vec<(u8, u8)>,
}

impl Provider {
    /// The answer that would be given again.
    pub fn remembered(&self, key: u8, now: u32) -> Option<Reply> {
        let first = self.answers.iter().rev().find(|(known, _, at)| *known == key && now < at + WINDOW);
        first.map(|(_, reply, _)| *reply)
    }

    /// A request arrives, or does not.
    pub fn send(&mut self, key: u8, intent: u8, how: Passage, now: u32) -> Reply {
        match how {
            Passage::Dropped => return Reply::Unknown,
            Passage::Delayed => {
                self.transit.push((key, intent));
                return Reply::Unknown;
            }
            Passage::Limited => return Reply::NotExecuted,
            Passage::Well | Passage::Pending | Passage::Declined | Passage::Error | Passage::Unheard => {}
        }
        let reply = self.remembered(key, now).map(again).unwrap_or_else(|| {
            let reply = match how {
                Passage::Pending => Reply::Accepted(self.make(intent, Status::Pending, now)),
                Passage::Declined => Reply::Refused,
                Passage::Error => Reply::Unknown,
                _ => Reply::Happened(self.make(intent, Status::Succeeded, now)),
            };
            self.answers.push((key, reply, now));
            reply
        });
        if how == Passage::Unheard { Reply::Unknown } else { reply }
    }

    /// A request that was on its way arrives.
    pub fn arrive(&mut self, position: usize, now: u32) {
        let (key, intent) = self.transit.remove(position);
        self.send(key, intent, Passage::Well, now);
    }

    fn make(&mut self, intent: u8, status: Status, now: u32) -> u8 {
        self.refunds.push(Made { intent, created: now, status, before: None });
        (self.refunds.len() - 1) as u8
    }

    /// A refund comes to this.
    pub fn become_(&mut self, refund: usize, status: Status, now: u32) {
        let made = &mut self.refunds[refund];
        made.before = Some((made.status, now));
        made.status = status;
    }

    /// What a lookup shows: the truth, or what was true a lag ago.
    pub fn look(&self, intent: u8, stale: bool, now: u32) -> Sight {
        let visible = |made: &Made| made.intent == intent && !(stale && now < made.created + LAG);
        let found: Vec<usize> = (0..self.refunds.len()).filter(|at| visible(&self.refunds[*at])).collect();
        match found[..] {
            [] => Sight::Absent,
            [one] => {
                let made = &self.refunds[one];
                let status = match made.before {
                    Some((before, at)) if stale && now < at + LAG => before,
                    _ => made.status,
                };
                match status {
                    Status::Pending => Sight::Accepted(one as u8),
                    Status::Succeeded => Sight::Happened(one as u8),
                    Status::Failed => Sight::Undone(one as u8),
                }
            }
            _ => Sight::Contradiction,
        }
    }

    /// The refunds of an intent that were not undone.
    pub fn effects(&self, intent: u8) -> usize {
        self.refunds.iter().filter(|made| made.intent == intent && made.status != Status::Failed).count()
    }
}
