//! What the tap knows of a request: who sent which operation, and what it cost.

use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use serde_json::{Value, json};

use super::Fault;

/// One request, and what was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Who sent it: the access key id of its signature, which is the function's name; empty where there is none.
    pub by: String,
    /// DynamoDB's operation, such as `TransactWriteItems`; for any other request method and path.
    pub operation: String,
    /// How many records it names.
    pub items: usize,
    /// What it read, in DynamoDB's read units.
    pub read_units: f64,
    /// What it wrote, in DynamoDB's write units.
    pub write_units: f64,
    /// The status; 0 where there was no answer.
    pub status: u16,
    /// What follows the path, without the question mark.
    pub query: String,
    /// The whole request, for a closer look.
    pub body: Bytes,
    /// The fault that happened to it.
    pub fault: Option<Fault>,
    /// When it arrived, counted over all taps.
    pub arrived_at: u64,
    /// When it was carried out, lost or given up, counted likewise; none while it is under way or hangs.
    pub ended_at: Option<u64>,
}

const TARGET: &str = "x-amz-target";

impl Seen {
    pub(super) fn of(head: &Parts, body: &Bytes) -> Self {
        let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let by = text("authorization").split("Credential=").nth(1).and_then(|rest| rest.split('/').next());
        let operation = match text(TARGET).rsplit_once('.') {
            Some((_, operation)) => operation.to_owned(),
            None => format!("{} {}", head.method, head.uri.path()),
        };
        Self {
            by: by.unwrap_or_default().to_owned(),
            items: items(&serde_json::from_slice(body).unwrap_or_default()),
            operation,
            read_units: 0.0,
            write_units: 0.0,
            status: 0,
            query: head.uri.query().unwrap_or_default().to_owned(),
            body: body.clone(),
            fault: None,
            arrived_at: 0,
            ended_at: None,
        }
    }

    /// Whether one of these words occurs in it, and does not go on: `ord_1` is not in `ord_17`.
    #[must_use]
    pub fn is_about(&self, words: &[String]) -> bool {
        words.iter().any(|word| occurs(&self.body, word) || occurs(self.query.as_bytes(), word))
    }

    /// Notes what came back.
    pub(super) fn answered(&mut self, status: StatusCode, body: &[u8]) {
        self.status = status.as_u16();
        let answer: Value = serde_json::from_slice(body).unwrap_or_default();
        let consumed = match answer.get("ConsumedCapacity") {
            Some(Value::Array(tables)) => tables.clone(),
            Some(table) => vec![table.clone()],
            None => Vec::new(),
        };
        let writes =
            self.operation.contains("Write") || self.operation.contains("Put") || self.operation.contains("Update");
        for table in consumed {
            let units = |name| table.get(name).and_then(Value::as_f64);
            let all = units("CapacityUnits").unwrap_or(0.0);
            self.write_units += units("WriteCapacityUnits").unwrap_or(if writes { all } else { 0.0 });
            self.read_units += units("ReadCapacityUnits").unwrap_or(if writes { 0.0 } else { all });
        }
    }
}

fn occurs(text: &[u8], word: &str) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let ends = |(at, _): (usize, &str)| {
        let next = text.get(at..).and_then(|rest| rest.strip_prefix(word)).and_then(|rest| rest.chars().next());
        !next.is_some_and(|next| next.is_ascii_alphanumeric())
    };
    text.match_indices(word).any(ends)
}

/// How many records a DynamoDB request names.
fn items(body: &Value) -> usize {
    if let Some(steps) = body.get("TransactItems").and_then(Value::as_array) {
        return steps.len();
    }
    let keys = |table: &Value| table.get("Keys").and_then(Value::as_array).map_or(0, Vec::len);
    match body.get("RequestItems").and_then(Value::as_object) {
        Some(tables) => tables.values().map(keys).sum(),
        None => usize::from(body.get("Key").is_some() || body.get("Item").is_some()),
    }
}

/// Whether it is a request to DynamoDB.
pub(super) fn is_for_the_database(head: &Parts) -> bool {
    head.headers.contains_key(TARGET)
}

/// The same request, asked to say what it costs: the SDK does not ask, and the answer has room for it.
pub(super) fn metered(head: &Parts, body: Bytes) -> Bytes {
    if !is_for_the_database(head) {
        return body;
    }
    match serde_json::from_slice::<Value>(&body) {
        Ok(Value::Object(mut members)) => {
            members.insert("ReturnConsumedCapacity".to_owned(), json!("TOTAL"));
            Value::Object(members).to_string().into()
        }
        _ => body,
    }
}
