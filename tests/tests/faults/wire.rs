//! What the wire shows of an operation: each write that moved it, in order, and what it was allowed to be.

use std::collections::BTreeSet;

use countersign::operation::State;
use countersign::operation::transitions::{Event, next};
use local::tap::Seen;
use serde_json::Value;
use tests::worker::WORKER;

use crate::place::{CREATE, LOOKUP, Passed};

/// A write that the database took, and by which an operation went from a state to another.
#[derive(Debug)]
pub(crate) struct Moved {
    by: String,
    from: Option<State>,
    to: State,
    fence: Option<i64>,
    arrived_at: u64,
    ended_at: u64,
}

/// Holds all that has passed the taps about one operation, whose record lies under `pk`, against the picture. From when to
/// when nobody got to the provider is in `closed`.
pub(crate) fn check(passed: &[Passed], closed: &[(u64, u64)], pk: &str) {
    let mut by_end: Vec<_> = passed.iter().filter(|passed| passed.seen.status == 200).collect();
    by_end.sort_by_key(|passed| passed.seen.ended_at);
    let mut known = BTreeSet::new();
    // The SDK repeats a transaction under the same token, and the database answers it without doing it again.
    by_end.retain(|passed| known.insert(passed.seen.body.clone()));
    let moves: Vec<Moved> = by_end.iter().filter_map(|passed| moved(&passed.seen, pk)).collect();
    for moved in &moves {
        assert!(moved.is_an_arrow(), "no such arrow: {moved:?}");
    }
    each_request_was_announced(passed, &moves);
    what_was_being_sent_is_left_by_its_own_answer_alone(passed, closed, &moves);
    what_found_no_connection_is_queued_again(closed, &moves);
    what_is_unknown_is_left_by_evidence_alone(passed, &moves);
}

/// Of each fence at most one request, and `sending` was acknowledged before the request was begun.
fn each_request_was_announced(passed: &[Passed], moves: &[Moved]) {
    let sending: Vec<_> = moves.iter().filter(|moved| moved.to == State::Sending).collect();
    let fences: BTreeSet<_> = sending.iter().map(|moved| moved.fence).collect();
    assert_eq!(fences.len(), sending.len(), "two workers held one fence: {sending:?}");
    let requests = passed.iter().filter(|passed| passed.seen.operation == CREATE);
    for (position, request) in requests.enumerate() {
        let announced = sending.iter().filter(|moved| moved.ended_at < request.seen.arrived_at).count();
        assert!(announced > position, "request {position} was sent with {announced} announced: {moves:?}");
    }
}

/// Whoever says that it was not executed, was refused or is not final has heard so under the very fence.
fn what_was_being_sent_is_left_by_its_own_answer_alone(passed: &[Passed], closed: &[(u64, u64)], moves: &[Moved]) {
    for moved in moves.iter().filter(|moved| moved.from == Some(State::Sending)) {
        let proof: &[u16] = match moved.to {
            State::Queued => &[401, 403, 429],
            State::Failed => &[200, 400, 402, 404],
            State::Settling => &[200],
            // Evidence of any fence counts, and that nothing is known needs none.
            State::Succeeded | State::Unknown => continue,
            State::Sending | State::Returned | State::Cancelled | State::Expired | State::NeedsOperator => {
                panic!("{moved:?}")
            }
        };
        let claimed = |claim: &&Moved| claim.to == State::Sending && claim.fence.map(|fence| fence + 1) == moved.fence;
        let claim = moves.iter().find(claimed).unwrap_or_else(|| panic!("nobody held this fence: {moved:?}"));
        // Or it was not sent at all, since nobody got to the provider.
        let refused = |(from, to): &(u64, u64)| *from < claim.arrived_at && moved.arrived_at < *to;
        if moved.to == State::Queued && closed.iter().any(refused) {
            continue;
        }
        let heard = |passed: &Passed| {
            passed.seen.operation == CREATE
                && passed.seen.arrived_at > claim.ended_at
                && passed.seen.ended_at.is_some_and(|ended| ended < moved.arrived_at)
                && proof.contains(&passed.seen.status)
        };
        assert!(passed.iter().any(heard), "nobody has heard that under this fence: {moved:?}");
    }
}

/// What is begun to be sent while nobody gets to the provider was certainly not executed, and is called nothing else.
fn what_found_no_connection_is_queued_again(closed: &[(u64, u64)], moves: &[Moved]) {
    let meanwhile = |moved: &&Moved| closed.iter().any(|(from, to)| (*from..*to).contains(&moved.arrived_at));
    for moved in moves.iter().filter(meanwhile).filter(|moved| moved.from == Some(State::Sending)) {
        assert_eq!(moved.to, State::Queued, "there was no connection: {moved:?}");
    }
}

fn what_is_unknown_is_left_by_evidence_alone(passed: &[Passed], moves: &[Moved]) {
    let lookups: Vec<_> =
        passed.iter().filter(|passed| passed.seen.operation == LOOKUP && passed.seen.status == 200).collect();
    for moved in moves.iter().filter(|moved| moved.from == Some(State::Unknown)) {
        if moved.by == WORKER {
            let there = matches!(moved.to, State::Succeeded | State::Settling);
            assert!(there, "a worker may only say that it is there: {moved:?}");
            continue;
        }
        let since = |passed: &&&Passed| {
            let sent = |other: &&Moved| other.to == State::Sending && other.ended_at < moved.arrived_at;
            let last = moves.iter().filter(sent).map(|other| other.ended_at).max().unwrap_or_default();
            passed.seen.arrived_at > last && passed.seen.ended_at.is_some_and(|ended| ended < moved.arrived_at)
        };
        let looked = lookups.iter().filter(since).count();
        let needed = match moved.to {
            State::Queued => 2,
            State::Succeeded | State::Failed | State::Settling | State::NeedsOperator | State::Returned => 1,
            State::Sending | State::Unknown | State::Cancelled | State::Expired => panic!("{moved:?}"),
        };
        assert!(looked >= needed, "after {looked} lookups: {moved:?}");
    }
}

impl Moved {
    fn is_an_arrow(&self) -> bool {
        const EVENTS: [Event; 10] = [
            Event::Claimed,
            Event::Happened,
            Event::Refused,
            Event::Accepted,
            Event::NotExecuted,
            Event::Lost,
            Event::Stopped,
            Event::Lapsed,
            Event::CameBack,
            Event::Stuck,
        ];
        let Some(from) = self.from else { return self.to == State::Queued };
        EVENTS.iter().any(|event| (0..=1).any(|attempts| next(from, *event, attempts) == Some(self.to)))
    }
}

/// The move that an accepted request makes, if it makes one.
fn moved(seen: &Seen, pk: &str) -> Option<Moved> {
    if !seen.operation.contains("Write") && !seen.operation.contains("Update") {
        return None;
    }
    let body: Value = serde_json::from_slice(&seen.body).ok()?;
    let steps = match body["TransactItems"].as_array() {
        Some(steps) => steps.iter().filter_map(|step| step.as_object()?.values().next().cloned()).collect(),
        None => vec![body],
    };
    let key = |step: &Value| step.pointer("/Key/pk/S").or(step.pointer("/Item/pk/S")).cloned();
    let step = steps.into_iter().find(|step| key(step).is_some_and(|key| key == pk))?;
    let (by, arrived_at, ended_at) = (seen.by.clone(), seen.arrived_at, seen.ended_at?);
    if let Some(state) = step.pointer("/Item/state/S").and_then(Value::as_str) {
        let to = State::parse(state).unwrap();
        return Some(Moved { by, from: None, to, fence: None, arrived_at, ended_at });
    }
    let value = |expression: &str, name: &str| -> Option<Value> {
        let (_, after) = step[expression].as_str()?.split_once(&format!("#{name} = "))?;
        let placeholder = after.split([' ', ',']).next()?;
        step["ExpressionAttributeValues"][placeholder].as_object()?.values().next().cloned()
    };
    let state = |expression| Some(State::parse(value(expression, "state")?.as_str()?).unwrap());
    let fence = value("ConditionExpression", "fence").and_then(|fence| fence.as_str()?.parse().ok());
    let to = state("UpdateExpression")?;
    Some(Moved { by, from: state("ConditionExpression"), to, fence, arrived_at, ended_at })
}
