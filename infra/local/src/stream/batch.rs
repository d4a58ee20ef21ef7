//! Which records go into a call, and which of them go into the next one.

use std::collections::VecDeque;

use bytes::Bytes;
use serde::Deserialize;

use super::reader::Entry;
use crate::lambda::{Invoked, MAX_PAYLOAD_BYTES};

/// The records that were read and not yet done with, in order.
pub(super) struct Queue {
    entries: VecDeque<Entry>,
    batch: usize,
    /// How many go into the next call. It halves with each failed call, so that in the end a record fails alone.
    width: usize,
    /// How often the first record failed.
    failures: u32,
}

/// What an answer says about a batch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All of it is done.
    Done,
    /// The records before this place are done; this one failed.
    FailedFrom(usize),
    /// The call failed as a whole.
    Failed(String),
}

impl Queue {
    pub(super) fn new(batch: usize) -> Self {
        let batch = batch.max(1);
        Self { entries: VecDeque::new(), batch, width: batch, failures: 0 }
    }

    pub(super) fn extend(&mut self, entries: Vec<Entry>) {
        self.entries.extend(entries);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The next batch as a Lambda event, within what a call may carry.
    pub(super) fn event(&self) -> Bytes {
        let records: Vec<&str> = self.next_batch().map(|entry| entry.json.as_str()).collect();
        format!("{{\"Records\":[{}]}}", records.join(",")).into()
    }

    fn next_batch(&self) -> impl Iterator<Item = &Entry> {
        let mut room = MAX_PAYLOAD_BYTES - 32;
        let fits = move |(place, entry): &(usize, &Entry)| {
            let size = entry.json.len() + 1;
            let fits = *place == 0 || size <= room;
            room = room.saturating_sub(size);
            fits
        };
        self.entries.iter().take(self.width).enumerate().take_while(fits).map(|(_, entry)| entry)
    }

    /// Moves on by what the batch achieved. Returns how often the record that is now first has failed.
    pub(super) fn settle(&mut self, verdict: Verdict, max_attempts: u32) -> u32 {
        let batch = self.next_batch().count();
        match verdict {
            Verdict::Done => self.advance(batch),
            Verdict::FailedFrom(place) => {
                if place > 0 {
                    self.advance(place);
                }
                self.failures += 1;
                self.park_if(self.failures >= max_attempts, "the function names it as failed");
            }
            Verdict::Failed(reason) => {
                self.failures += 1;
                self.park_if(batch <= 1 && self.failures >= max_attempts, &reason);
                self.width = (batch / 2).max(1);
            }
        }
        self.failures
    }

    fn advance(&mut self, count: usize) {
        self.entries.drain(..count.min(self.entries.len()));
        self.failures = 0;
        self.width = self.batch;
    }

    fn park_if(&mut self, hopeless: bool, reason: &str) {
        if hopeless && let Some(Entry { sequence, json }) = self.entries.pop_front() {
            let failures = self.failures;
            tracing::error!(
                sequence,
                failures,
                reason,
                record = json,
                "a record is parked: it will not be tried again"
            );
            self.failures = 0;
            self.width = self.batch;
        }
    }
}

impl Verdict {
    /// Reads an answer as an event source mapping with `ReportBatchItemFailures` does: no answer, or no failures, is
    /// success; a failure that names none of the records fails them all.
    pub(super) fn of(invoked: &Invoked, queue: &Queue) -> Self {
        match invoked {
            Invoked::Answered(answer) => Self::of_answer(answer, queue),
            Invoked::FunctionError { kind, message } => Self::Failed(format!("{kind}: {message}")),
            Invoked::Refused(refusal) => Self::Failed(refusal.to_string()),
        }
    }

    fn of_answer(answer: &[u8], queue: &Queue) -> Self {
        let failures = match serde_json::from_slice::<Option<Answer>>(answer) {
            Ok(answer) => answer.and_then(|answer| answer.batch_item_failures).unwrap_or_default(),
            Err(error) => return Self::Failed(format!("the answer is not a batch response: {error}")),
        };
        let mut lowest = None;
        for failure in failures {
            let named = |entry: &Entry| Some(&entry.sequence) == failure.item_identifier.as_ref();
            match queue.next_batch().position(named) {
                Some(place) => lowest = Some(lowest.map_or(place, |lowest: usize| lowest.min(place))),
                None => return Self::Failed("the answer names a failed record that was not in the batch".to_owned()),
            }
        }
        lowest.map_or(Self::Done, Self::FailedFrom)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    batch_item_failures: Option<Vec<ItemFailure>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ItemFailure {
    item_identifier: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(count: usize) -> Queue {
        let mut queue = Queue::new(10);
        queue.extend((0..count).map(|n| Entry { sequence: n.to_string(), json: n.to_string() }).collect());
        queue
    }

    fn verdict(answer: &str) -> Verdict {
        Verdict::of(&Invoked::Answered(Bytes::copy_from_slice(answer.as_bytes())), &queue(12))
    }

    #[test]
    fn no_answer_and_no_failures_are_success() {
        for answer in ["null", "{}", r#"{"batchItemFailures":null}"#, r#"{"batchItemFailures":[]}"#] {
            assert_eq!(verdict(answer), Verdict::Done, "{answer}");
        }
    }

    #[test]
    fn the_lowest_failed_record_counts() {
        let answer = r#"{"batchItemFailures":[{"itemIdentifier":"7"},{"itemIdentifier":"3"},{"itemIdentifier":"5"}]}"#;
        assert_eq!(verdict(answer), Verdict::FailedFrom(3));
    }

    #[test]
    fn a_failure_that_names_no_record_of_the_batch_fails_the_batch() {
        for name in [r#""11""#, r#""""#, "null"] {
            let answer = format!(r#"{{"batchItemFailures":[{{"itemIdentifier":{name}}}]}}"#);
            assert!(matches!(verdict(&answer), Verdict::Failed(_)), "{answer}");
        }
        assert!(matches!(verdict("\"done\""), Verdict::Failed(_)));
    }

    #[test]
    fn one_bad_record_is_parked_alone_and_costs_no_other() {
        let mut queue = queue(12);
        let mut done = Vec::new();
        let mut calls = 0;
        while !queue.is_empty() {
            calls += 1;
            assert!(calls < 100);
            let batch: Vec<String> = queue.next_batch().map(|entry| entry.sequence.clone()).collect();
            if batch.iter().any(|sequence| sequence == "6") {
                queue.settle(Verdict::Failed("no".to_owned()), 5);
            } else {
                done.extend(batch);
                queue.settle(Verdict::Done, 5);
            }
        }
        let all_but_the_bad: Vec<String> = (0..12).filter(|n| *n != 6).map(|n| n.to_string()).collect();
        assert_eq!(done, all_but_the_bad);
    }

    #[test]
    fn a_batch_stays_within_what_a_call_may_carry() {
        let mut queue = Queue::new(10);
        let big = || Entry { sequence: "1".to_owned(), json: "9".repeat(MAX_PAYLOAD_BYTES / 2) };
        queue.extend(vec![big(), big(), big()]);
        assert!(queue.event().len() <= MAX_PAYLOAD_BYTES);
        assert_eq!(queue.next_batch().count(), 1);
    }
}
