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
    /// It is answered with an internal error, with nothing done.
    ServerError,
    /// It is carried out after a while.
    Delay(Duration),
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
    fault: Fault,
}

impl Rule {
    /// The fault happens to the next request of this function and operation; an empty text stands for any.
    #[must_use]
    pub fn next(by: &str, operation: &str, fault: Fault) -> Self {
        Self { by: by.to_owned(), operation: operation.to_owned(), skip: 0, times: 1, fault }
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

    /// The fault, if it is this request's turn.
    pub(super) fn strikes(&mut self, seen: &Seen) -> Option<Fault> {
        let meant = (self.by.is_empty() || self.by == seen.by)
            && (self.operation.is_empty() || self.operation == seen.operation);
        if !meant || self.times == 0 {
            return None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        self.times -= 1;
        Some(self.fault.clone())
    }
}

impl Fault {
    /// The answer that is given in place of the upstream's; `None` where the request goes through.
    pub(super) fn instead(&self, seen: &Seen) -> Option<Response> {
        match self {
            Self::LoseReply | Self::Delay(_) => None,
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
