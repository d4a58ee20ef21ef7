//! The log: one JSON line a call. Never arguments, customer's notes or tokens.

use std::fmt::Display;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;

use crate::caller::Caller;
use crate::failure::Failure;

/// Sends log lines to standard output as JSON, where Lambda collects them, and makes a panic one such line.
pub fn start() {
    let subscriber = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_target(false)
        .with_max_level(tracing::Level::INFO);
    // A second start keeps the first one's subscriber.
    let _ = subscriber.try_init();
    std::panic::set_hook(Box::new(|panic| {
        let at = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(at, "panic");
    }));
}

/// Logs why the process ends.
pub(super) fn fatal(error: &dyn Display) -> ExitCode {
    tracing::error!(%error, "the function ends");
    ExitCode::FAILURE
}

/// What is said of one call.
pub(super) struct Outcome {
    tool: &'static str,
    request_id: String,
    tenant: Option<String>,
    principal: Option<String>,
    code: &'static str,
    operation_id: Option<String>,
    replayed: Option<bool>,
    cause: Option<String>,
}

impl Outcome {
    pub(super) fn new(tool: &'static str, request_id: &str) -> Self {
        Self {
            tool,
            request_id: request_id.to_owned(),
            tenant: None,
            principal: None,
            code: "ok",
            operation_id: None,
            replayed: None,
            cause: None,
        }
    }

    pub(super) fn called_by(&mut self, by: &Caller) {
        self.tenant = Some(by.tenant.to_string());
        self.principal = Some(by.principal.to_string());
    }

    pub(super) fn answered(&mut self, answer: &Value) {
        self.operation_id = answer.get("operation_id").and_then(Value::as_str).map(str::to_owned);
        self.replayed = answer.get("replayed").and_then(Value::as_bool);
    }

    pub(super) fn failed(&mut self, failure: &Failure) {
        self.code = failure.code().as_str();
        self.operation_id = failure.operation_id().map(ToString::to_string);
        self.cause = failure.causes();
    }

    pub(super) fn write(self, took: Duration) {
        let Self { tool, request_id, tenant, principal, code, operation_id, replayed, cause } = self;
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(tool, request_id, tenant, principal, code, operation_id, replayed, cause, duration_ms, "call");
    }
}
