//! Faults: what can happen between two machines, and what DynamoDB can answer that no local engine ever does.

use std::io;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use super::Seen;

/// What happens to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It does not arrive: the connection is closed with nothing done.
    LoseRequest,
    /// It is carried out, and the answer does not arrive.
    LoseReply,
    /// It is not carried out, and never answered: it hangs until whoever sent it gives up, or is killed.
    HangBefore,
    /// It is carried out, and never answered.
    HangAfter,
    /// It is answered with an internal error, with nothing done.
    ServerError,
    /// It is carried out after a while, even if nobody waits for it any more.
    Delay(Duration),
    /// It is carried out at once, and answered after a while.
    DelayReply(Duration),
    /// It is refused for now.
    Throttle,
    /// Another transaction has the record of this step, counted from 0.
    TransactionConflict(usize),
    /// A transaction with the same client request token is at work.
    TransactionInProgress,
}

/// Which requests a fault happens to.
#[derive(Debug, Clone)]
pub struct Rule {
    by: String,
    operation: String,
    skip: usize,
    times: usize,
    about: Vec<String>,
    fault: Fault,
}

/// The fault that is due for a request. Each rule that still lets requests through counts it, whatever the others do;
/// of those whose turn it is, the first one strikes.
pub(super) fn due(rules: &mut [Rule], seen: &Seen) -> Option<Fault> {
    let mut due = None;
    for rule in rules.iter_mut().filter(|rule| rule.means(seen)) {
        if rule.skip > 0 {
            rule.skip -= 1;
        } else if due.is_none() && rule.times > 0 {
            rule.times -= 1;
            due = Some(rule.fault.clone());
        }
    }
    due
}

impl Rule {
    /// The fault happens to the next request of this function and operation; an empty text stands for any.
    #[must_use]
    pub fn next(by: &str, operation: &str, fault: Fault) -> Self {
        Self { by: by.to_owned(), operation: operation.to_owned(), skip: 0, times: 1, about: Vec::new(), fault }
    }

    /// The same rule after so many requests that are let through.
    #[must_use]
    pub fn after(self, skip: usize) -> Self {
        Self { skip, ..self }
    }

    /// The same rule for so many requests in a row.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Self { times, ..self }
    }

    /// The same rule for requests alone in which one of these words occurs.
    #[must_use]
    pub fn about(self, words: &[String]) -> Self {
        Self { about: words.to_vec(), ..self }
    }

    pub(super) fn is_bound_to(&self, words: &[String]) -> bool {
        self.about.iter().any(|word| words.contains(word))
    }

    fn means(&self, seen: &Seen) -> bool {
        (self.by.is_empty() || self.by == seen.by)
            && (self.operation.is_empty() || self.operation == seen.operation)
            && (self.about.is_empty() || seen.is_about(&self.about))
    }
}

impl Fault {
    /// The answer that is given in place of the upstream's; `None` where the request goes through.
    pub(super) fn instead(&self, seen: &Seen) -> Option<Response> {
        match self {
            Self::LoseReply | Self::Delay(_) | Self::DelayReply(_) | Self::HangBefore | Self::HangAfter => None,
            Self::LoseRequest => Some(hang_up()),
            Self::ServerError => Some(error(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError", json!({}))),
            Self::Throttle => Some(error(StatusCode::BAD_REQUEST, "ThrottlingException", json!({}))),
            Self::TransactionInProgress => {
                Some(error(StatusCode::BAD_REQUEST, "TransactionInProgressException", json!({})))
            }
            Self::TransactionConflict(step) => Some(conflict(*step, seen)),
        }
    }
}

/// A transaction is canceled with a reason a step; a single write has an exception of its own
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>).
fn conflict(step: usize, seen: &Seen) -> Response {
    if seen.operation != "TransactWriteItems" {
        return error(StatusCode::BAD_REQUEST, "TransactionConflictException", json!({}));
    }
    let reason = |position| if position == step { "TransactionConflict" } else { "None" };
    let reasons: Vec<Value> = (0..seen.items).map(|position| json!({ "Code": reason(position) })).collect();
    let more = json!({ "CancellationReasons": reasons });
    error(StatusCode::BAD_REQUEST, "TransactionCanceledException", more)
}

fn error(status: StatusCode, kind: &str, mut more: Value) -> Response {
    if let Some(members) = more.as_object_mut() {
        members.insert("__type".to_owned(), json!(format!("com.amazonaws.dynamodb.v20120810#{kind}")));
        members.insert("message".to_owned(), json!("made by the tap"));
    }
    let headers = [("content-type", "application/x-amz-json-1.0")];
    (status, headers, more.to_string()).into_response()
}

/// A response whose body fails before its first byte: the connection is closed with nothing sent.
pub(super) fn hang_up() -> Response {
    let failing = futures::stream::once(async { Err::<Bytes, _>(io::Error::from(io::ErrorKind::ConnectionReset)) });
    Response::new(Body::from_stream(failing))
}
