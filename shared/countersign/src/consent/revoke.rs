//! Revoking: a person takes an approval back, and what was not sent yet is stopped.

use super::decide::already;
use super::{Approver, Authority, Verdict, key};
use crate::bounded::IntentId;
use crate::caller::Caller;
use crate::change::{Change, Guard, Snapshot, Step};
use crate::clock::Timestamp;
use crate::command::{Command, Decision};
use crate::failure::Failure;
use crate::key::Key;

/// The command by which a person takes an approval back. It stops what has not been sent yet.
#[derive(Debug)]
pub struct Revoke<'a> {
    by: &'a Approver,
    intent: IntentId,
}

impl<'a> Revoke<'a> {
    /// `by` takes back the approval of the intent.
    #[must_use]
    pub const fn new(by: &'a Approver, intent: IntentId) -> Self {
        Self { by, intent }
    }
}

impl Command for Revoke<'_> {
    type Answer = ();

    fn keys(&self) -> Vec<Key> {
        let Caller { tenant, principal, .. } = &self.by.0;
        vec![key(tenant, &self.intent), Authority::key(tenant, principal)]
    }

    fn decide(&self, seen: &Snapshot, now: Timestamp) -> Result<Decision<()>, Failure> {
        let Caller { tenant, principal, .. } = &self.by.0;
        let key = key(tenant, &self.intent);
        let Some(item) = seen.item(&key) else { return Err(Failure::not_found("approval")) };
        if !self.by.may_revoke(seen.item(&Authority::key(tenant, principal))) {
            let message = "only a person who may approve takes an approval back";
            return Err(Failure::forbidden(message).advising("ask an approver to take it back"));
        }
        if item.get("revoked_at").is_some() {
            return Ok(Decision::Answer(()));
        }
        if item.text("kind")? != Verdict::Approval.as_str() {
            let message = "it was rejected; there is no approval to take back";
            return Err(already(message, "nothing is left to do; what was rejected cannot be submitted"));
        }
        let step = Step::update(key)
            .when_is("statement", item.text("statement")?)
            .when(Guard::Lacks("revoked_at"))
            .set("revoked_at", now)
            .set("revoked_by", principal.as_str());
        Ok(Decision::Commit(Change(vec![step]), ()))
    }
}
