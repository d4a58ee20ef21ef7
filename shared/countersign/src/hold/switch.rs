//! Switching: an operator holds a domain or releases it, and says why.

use super::CONTROL;
use crate::bounded::{Nonce, Remark};
use crate::caller::Caller;
use crate::change::{Change, Guard, Snapshot, Step};
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::effect::CommandName;
use crate::failure::{Code, Failure, Retry};
use crate::item::Item;
use crate::key::Key;
use crate::operation::OPERATOR;
use crate::random;

crate::choice! {
    /// Which way a domain is switched.
    pub enum Turn {
        /// Nothing is accepted or sent.
        Held = "held",
        /// It goes on.
        Released = "released",
    }
}

/// The command by which an operator holds or releases a domain, for all tenants.
#[derive(Debug)]
pub struct Switch<'a> {
    by: &'a Caller,
    command: CommandName,
    turn: Turn,
    why: Remark,
    nonce: Nonce,
}

impl<'a> Switch<'a> {
    /// `by` switches the command's domain, and says why.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn new(by: &'a Caller, command: CommandName, turn: Turn, why: Remark) -> Result<Self, Failure> {
        Ok(Self { by, command, turn, why, nonce: random::nonce()? })
    }

    /// The control record from now on.
    fn control(&self, now: Timestamp) -> Item {
        let at = match self.turn {
            Turn::Held => "held_at",
            Turn::Released => "released_at",
        };
        self.said(Item::new().with(at, now)).with("last", self.nonce.as_str())
    }

    /// What stays on record of this.
    fn entry(&self, now: Timestamp, previous: Option<&str>) -> Item {
        let item = Item::new().with("turn", self.turn.as_str()).with("at", now);
        self.said(item).with_optional("previous", previous)
    }

    fn said(&self, item: Item) -> Item {
        let Caller { tenant, principal, .. } = self.by;
        item.with("reason", self.why.as_str()).with("by", principal.as_str()).with("by_tenant", tenant.as_str())
    }
}

impl Command for Switch<'_> {
    type Answer = ();

    fn keys(&self) -> Vec<Key> {
        super::key(self.command).into_iter().collect()
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<()>, Failure> {
        if !self.by.has_role(OPERATOR) {
            return Err(Failure::forbidden("only an operator holds or releases a domain"));
        }
        let (key, domain) = (super::key(self.command)?, self.command.domain);
        let item = seen.item(&key);
        let last = item.map(|item| item.optional_text("last")).transpose()?.flatten();
        let record = CONTROL.shared_key(&[&self.command.domain()?, &self.nonce]);
        // Written already, whatever others have switched since.
        if last == Some(self.nonce.as_str()) || seen.item(&record).is_some() {
            return Ok(Decision::Answer(()));
        }
        // Whatever it says, written by hand: it alone decides, and what holds can be released.
        let held_at = item.and_then(|item| item.get("held_at"));
        match (self.turn, held_at) {
            (Turn::Held, Some(_)) => return Err(already_held(domain, item)),
            (Turn::Released, None) => {
                let message = format!("{domain} are not held");
                return Err(Failure::new(Code::NOT_HELD, Retry::Never, message, "nothing has to be released"));
            }
            (Turn::Held, None) | (Turn::Released, Some(_)) => {}
        }
        // Whoever switches takes nobody else's switch off the record.
        let control = match item {
            None => Step::create(key, self.control(now)),
            Some(_) => {
                let step = Step::put(key, self.control(now));
                let step = match last {
                    Some(last) => step.when_is("last", last),
                    None => step.when(Guard::Lacks("last")),
                };
                match held_at {
                    Some(since) => step.when_is("held_at", since.clone()),
                    None => step.when(Guard::Lacks("held_at")),
                }
            }
        };
        Ok(Decision::Commit(Change(vec![control, Step::create(record, self.entry(now, last))]), ()))
    }
}

/// Who has held it, and why, for whoever would hold it again.
fn already_held(domain: &str, item: Option<&Item>) -> Failure {
    let since = item.and_then(|item| item.moment("held_at").ok()).map(|at| format!(", since {at}")).unwrap_or_default();
    let text = |attr| item.and_then(|item| item.text(attr).ok());
    let by = text("by").map(|by| format!(" by {by}")).unwrap_or_default();
    let why = text("reason").map(|why| format!(", because: {why}")).unwrap_or_default();
    let message = format!("{domain} are held already{since}{by}{why}");
    let next = "nothing has to be done; what is queued is sent as soon as it is released";
    Failure::new(Code::HELD, Retry::Never, message, next)
}
