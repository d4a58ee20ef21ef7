//! Calls under watch: what a function answers to these very bytes, and what it asked the database meanwhile.

use bytes::Bytes;
use local::tap::Seen;
use serde_json::Value;
use tokio::sync::{Mutex, MutexGuard, OnceCell};

use crate::{App, Direct};

static TAPPED: OnceCell<App> = OnceCell::const_new();
static TURN: Mutex<()> = Mutex::const_new(());

/// The binary's tapped gateway, for one test at a time.
pub struct Watch {
    /// The gateway.
    pub app: &'static App,
    _turn: MutexGuard<'static, ()>,
}

/// What came of a call.
#[derive(Debug)]
pub struct Watched {
    /// The answer.
    pub answer: Value,
    /// What the function asked the database; the warming of a new process does not count.
    pub requests: Vec<Seen>,
}

impl Watch {
    /// Waits for the test's turn.
    pub async fn new() -> Self {
        let turn = TURN.lock().await;
        Self { app: TAPPED.get_or_init(App::tapped).await, _turn: turn }
    }

    /// Calls a tool with these very bytes as its arguments. A function error fails the test.
    pub async fn bytes(&self, by: &Direct<'_>, tool: &str, payload: impl Into<Bytes>) -> Watched {
        let tap = &self.app.gateway.taps().unwrap().database;
        tap.forget();
        let answer = by.bytes(tool, payload).await;
        let warms = |seen: &Seen| String::from_utf8_lossy(&seen.body).contains("warm#");
        let requests = tap.seen().into_iter().filter(|seen| seen.by == tool && !warms(seen)).collect();
        Watched { answer, requests }
    }

    /// The processes of these tools: a process that an input ended would be missing.
    pub fn processes(&self, tools: &[String]) -> Vec<(usize, Vec<u32>)> {
        let lambda = self.app.gateway.lambda();
        tools.iter().map(|tool| (lambda.cold_starts(tool), lambda.processes(tool))).collect()
    }

    /// Lines of the functions' logs that speak of a panic.
    pub fn panics(&self) -> Vec<String> {
        self.app.logs().into_iter().filter(|line| line.contains("panicked")).collect()
    }
}

impl Watched {
    /// The answer's code, the field that it names, and how often the database was asked.
    pub fn summary(&self) -> (&str, Option<&str>, usize) {
        let field = self.answer.pointer("/error/field").and_then(Value::as_str);
        (crate::app::code(&self.answer), field, self.requests.len())
    }

    /// Refused as invalid for this field, with nothing asked of the database.
    pub fn is_refused(&self, field: &str) -> bool {
        self.summary() == ("invalid_input", Some(field), 0)
    }

    /// Taken as valid: the tool went on to ask the database, and met no fault.
    pub fn is_taken(&self) -> bool {
        let (code, _, requests) = self.summary();
        requests > 0 && ["ok", "not_found"].contains(&code)
    }
}
