//! Status: one operation, for its requester or an operator.

use countersign::bounded::OperationId;
use countersign::caller::Caller;
use countersign::change::Snapshot;
use countersign::clock::Timestamp;
use countersign::command::{Command, Decision};
use countersign::failure::Failure;
use countersign::key::Key;
use countersign::operation::{self, Operation};

use crate::refund::Refund;

/// The command that looks at an operation.
#[derive(Debug)]
pub struct Status<'a> {
    by: &'a Caller,
    operation: OperationId,
}

/// `by` looks at the operation.
#[must_use]
pub const fn find(by: &Caller, operation: OperationId) -> Status<'_> {
    Status { by, operation }
}

impl Command for Status<'_> {
    type Answer = Operation<Refund>;

    fn keys(&self) -> Vec<Key> {
        vec![operation::key(&self.by.tenant, &self.operation)]
    }

    fn decide(&self, seen: &Snapshot, _: Timestamp) -> Result<Decision<Self::Answer>, Failure> {
        let item = seen.item(&operation::key(&self.by.tenant, &self.operation));
        let found = item.map(Operation::<Refund>::read).transpose()?.flatten();
        let found = found.filter(|found| found.requester.is(self.by) || self.by.has_role("operator"));
        found.map(Decision::Answer).ok_or_else(|| Failure::not_found("operation"))
    }
}
