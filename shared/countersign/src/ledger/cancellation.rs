//! Why DynamoDB canceled a transaction, and what follows from it.
//!
//! Reason codes: <https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>.

#[cfg(feature = "seeded_bugs")]
use crate::seeded::{self, Bug};

/// What the reasons of one canceled transaction come to.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Guards did not hold: the positions of those steps.
    Lost(Vec<usize>),
    /// Another transaction, or throttling, was in the way. Beside a failed guard too: a record under contention may be
    /// the very operation that this key already has, so nothing may be concluded before it was read again.
    Contended,
    /// A reason that the product gives no cause for.
    Fault(String),
}

/// Reads the reason codes, one a step, in the order of the steps.
#[must_use]
pub fn verdict<'a>(codes: impl IntoIterator<Item = Option<&'a str>>) -> Verdict {
    let mut lost = Vec::new();
    let mut contended = false;
    for (position, code) in codes.into_iter().enumerate() {
        match code.unwrap_or("None") {
            "None" => {}
            "ConditionalCheckFailed" => lost.push(position),
            "TransactionConflict" | "ThrottlingError" | "ProvisionedThroughputExceeded" => contended = true,
            other => return Verdict::Fault(other.to_owned()),
        }
    }
    #[cfg(feature = "seeded_bugs")]
    let contended = contended && !(seeded::on(Bug::ImagesBeforeOperation) && !lost.is_empty());
    if contended || lost.is_empty() { Verdict::Contended } else { Verdict::Lost(lost) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_guards_alone_are_a_loss() {
        assert_eq!(verdict([Some("ConditionalCheckFailed"), Some("None"), None]), Verdict::Lost(vec![0]));
    }

    #[test]
    fn contention_beside_a_failed_guard_means_reading_again() {
        let codes = [Some("TransactionConflict"), Some("ConditionalCheckFailed")];
        assert_eq!(verdict(codes), Verdict::Contended);
        assert_eq!(verdict([Some("ThrottlingError"), None]), Verdict::Contended);
    }

    #[test]
    fn an_unforeseen_reason_is_a_fault_and_nothing_is_guessed() {
        let codes = [Some("ConditionalCheckFailed"), Some("ItemCollectionSizeLimitExceeded")];
        assert_eq!(verdict(codes), Verdict::Fault("ItemCollectionSizeLimitExceeded".to_owned()));
    }
}
