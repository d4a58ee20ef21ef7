//! The ledger: where records are loaded and changes committed. It decides nothing.

mod cancellation;
mod dynamo;
mod expression;
mod tables;
mod write;

use std::future::Future;

pub use cancellation::{Verdict, verdict};
pub use dynamo::{Dynamo, Page};
pub use tables::{ATTENTION_INDEX, DUE_INDEX, PENDING_INDEX, SUBJECT_INDEX, TableNames, create_tables};

use crate::change::{Change, Snapshot};
use crate::failure::Failure;
use crate::key::Key;

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commit {
    /// All of it was written.
    Done,
    /// None of it was: the records of the steps whose guards did not hold, as they were then.
    Lost(Snapshot),
    /// None of it was, for a reason that says nothing about the records: read again.
    Contended,
}

/// Both tables. [`Dynamo`] is the one that the product runs on; [`crate::change::Model`] tells what it means.
pub trait Ledger: Sync {
    /// Reads records, strongly consistent each, in one request.
    ///
    /// # Errors
    /// When the database does not answer in time, or a record is malformed.
    fn load(&self, keys: &[Key]) -> impl Future<Output = Result<Snapshot, Failure>> + Send;

    /// Commits all of a change or nothing.
    ///
    /// # Errors
    /// When the database does not answer in time: whether it was committed is not known then.
    fn commit(&self, change: &Change) -> impl Future<Output = Result<Commit, Failure>> + Send;
}
