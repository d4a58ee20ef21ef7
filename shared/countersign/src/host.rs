//! The host: the Lambda loop around a tool. It authenticates, validates, bounds the answer, logs one line, and never
//! ends because of what a call brings.

mod arguments;
mod log;
mod runtime;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::Value;

use self::log::Outcome;
use self::runtime::{Invoked, Runtime};
use crate::caller;
use crate::clock::{Timestamp, wall_clock};
use crate::config::{Config, ConfigError};
use crate::contract::Contract;
use crate::deadline::Deadline;
use crate::failure::{Code, Failure, Retry};
use crate::invocation::Invocation;
use crate::keys::KeySet;
use crate::tool::{Call, Tool, full_name};

pub use self::arguments::Arguments;
pub use self::log::start as start_log;

/// With less than this left, a call is not begun.
const LEAST: Duration = Duration::from_millis(500);

/// A tool's whole `main`: prints the contract for `--contract`, otherwise serves calls until Lambda ends the process.
///
/// `build` makes the tool from the configuration, once.
pub async fn serve<T: Tool>(build: impl AsyncFnOnce(&Config) -> Result<T, InitError>) -> ExitCode {
    if std::env::args().any(|argument| argument == "--contract") {
        print(&Contract::of::<T>().to_text());
        return ExitCode::SUCCESS;
    }
    start_log();
    let config = Config::from_environment();
    let runtime = match Runtime::connect(&config) {
        Ok(runtime) => runtime,
        Err(error) => return log::fatal(&error),
    };
    let host = async { Host::new(build(&config).await?, &config) }.await;
    match host {
        Ok(host) => host.run(&runtime).await,
        Err(error) => {
            runtime.init_error(&error.to_string()).await;
            log::fatal(&error)
        }
    }
}

/// Why a function could not start.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// A setting is missing or makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Something that is needed did not answer.
    #[error(transparent)]
    Failure(#[from] Failure),
}

#[expect(clippy::print_stdout, reason = "the contract is this mode's output")]
fn print(text: &str) {
    print!("{text}");
}

/// One tool and what is needed to take calls for it.
struct Host<T> {
    tool: Arc<T>,
    name: String,
    gateway: String,
    caller_keys: KeySet,
    arguments: Arguments,
    timeout: Duration,
}

impl<T: Tool> Host<T> {
    fn new(tool: T, config: &Config) -> Result<Self, InitError> {
        Ok(Self {
            tool: Arc::new(tool),
            name: full_name(T::NAME),
            gateway: config.gateway_id()?,
            caller_keys: config.key_set("COUNTERSIGN_CALLER_KEYS")?,
            arguments: Arguments::of(&Contract::of::<T>()),
            timeout: config.timeout(),
        })
    }

    /// Takes one call at a time until the Runtime API is gone.
    async fn run(&self, runtime: &Runtime) -> ExitCode {
        loop {
            match runtime.next().await {
                Ok(invoked) => {
                    let answer = self.answer(&invoked).await;
                    runtime.respond(&invoked.request_id, answer).await;
                }
                Err(error) => return log::fatal(&error),
            }
        }
    }

    /// The answer to one call, with its one line in the log.
    async fn answer(&self, invoked: &Invoked) -> Bytes {
        let started = Instant::now();
        let mut outcome = Outcome::new(T::NAME, &invoked.request_id);
        let answer = match self
            .take(invoked, &mut outcome)
            .await
            .and_then(|answer| bounded(answer, T::ABOUT.max_response_bytes))
        {
            Ok((text, answer)) => {
                outcome.answered(&answer);
                text
            }
            Err(failure) => {
                outcome.failed(&failure);
                serde_json::to_vec(&failure).unwrap_or_default()
            }
        };
        outcome.write(started.elapsed());
        answer.into()
    }

    async fn take(&self, invoked: &Invoked, outcome: &mut Outcome) -> Result<Value, Failure> {
        let now = Timestamp::now();
        let invocation = Invocation::read(&invoked.client_context);
        let by = self.caller(&invocation, now)?;
        outcome.called_by(&by);
        if !T::ABOUT.roles.iter().any(|role| by.has_role(role)) {
            return Err(Failure::forbidden(format!("this tool needs one of the roles: {}", T::ABOUT.roles.join(", "))));
        }
        let deadline = Deadline::from_lambda(invoked.deadline_ms, wall_clock(), self.timeout);
        if deadline.left() < LEAST {
            return Err(Failure::deadline_too_close());
        }
        let input = self.arguments.read::<T::Input>(&invoked.payload)?;
        let (tool, call) = (Arc::clone(&self.tool), Call { by, deadline });
        // A task of its own, so that a panic is an answer.
        let called = tokio::spawn(async move { tool.call(&call, input).await }).await;
        let output = called.map_err(Failure::internal)??;
        serde_json::to_value(output).map_err(Failure::internal)
    }

    /// The verified caller, if the call is for this very tool through this very gateway.
    fn caller(&self, invocation: &Invocation, now: Timestamp) -> Result<caller::Caller, Failure> {
        let ours = invocation.tool.as_ref() == Some(&self.name) && invocation.gateway.as_ref() == Some(&self.gateway);
        let assertion = invocation.assertion.as_deref().filter(|_| ours).ok_or_else(Failure::unauthenticated)?;
        caller::verify(&self.caller_keys, assertion, &self.gateway, &self.name, now)
            .map_err(|error| Failure::unauthenticated().because(error))
    }
}

/// The answer as text, if it has at most as many bytes as the contract allows.
fn bounded(answer: Value, most: usize) -> Result<(Vec<u8>, Value), Failure> {
    let text = serde_json::to_vec(&answer).map_err(Failure::internal)?;
    if text.len() <= most {
        return Ok((text, answer));
    }
    Err(Failure::new(
        Code::RESPONSE_TOO_LARGE,
        Retry::Never,
        format!("the answer would be larger than {most} bytes"),
        "ask the platform team; the contract allows no larger answer",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_counted_as_it_is_sent_and_one_byte_too_many_is_refused() {
        // One character, which is six bytes as JSON, and two quotation marks.
        let answer = Value::from("\u{1}");
        assert_eq!(bounded(answer.clone(), 8).unwrap().0, br#""\u0001""#);
        assert_eq!(bounded(answer, 7).unwrap_err().code(), Code::RESPONSE_TOO_LARGE);
    }
}
