//! The books: which of the domain's steps go with what an operation has come to, and what is done about a contradiction.

use super::External;
use crate::bounded::Nonce;
use crate::change::{Change, Step};
use crate::clock::Timestamp;
use crate::operation::{Operation, State};

/// The domain's steps for an operation that comes to this state.
pub(super) fn entries<E: External>(operation: &Operation<E>, to: State) -> Vec<Step> {
    let Operation { effect, tenant, .. } = operation;
    match to {
        State::Succeeded => effect.settle(tenant),
        State::Failed | State::Cancelled | State::Expired => effect.release(tenant),
        State::Returned => effect.take_back(tenant),
        State::Queued | State::Sending | State::Settling | State::Unknown | State::NeedsOperator => Vec::new(),
    }
}

/// Marks an operation that has ended and is contradicted by evidence, once, and freezes what it is about: a person has to
/// put it right. `None` where it is marked already.
pub(super) fn conflict<E: External>(
    operation: &Operation<E>,
    why: &str,
    since: Timestamp,
    nonce: &Nonce,
) -> Option<Change> {
    if operation.conflict {
        return None;
    }
    let mark = operation.contradicted(since, nonce).set("reason", why);
    Some(Change(vec![mark, operation.effect.freeze(&operation.tenant)]))
}
