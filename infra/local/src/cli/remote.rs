//! The subcommands that speak to the gateway that runs, never to its file.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use countersign::bounded::OperationId;
use countersign::clock::Timestamp;
use reqwest::{Method, RequestBuilder};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::approvals::Shown;
use crate::control::{As, Decision, HEADER, Hold, Operator};
use crate::folder::{FolderError, Run, running};

use super::{Decide, Resolve, Stop, say, tell};

/// Prints an access token.
pub(super) async fn token(folder: &Path, persona: &str) -> Result<ExitCode, Stop> {
    let remote = Remote::of(folder)?;
    let by = As { persona: persona.to_owned() };
    let answer: Value = remote.send(remote.request(Method::POST, "tokens").json(&by)).await?;
    say(answer.get("token").and_then(Value::as_str).unwrap_or_default());
    Ok(ExitCode::SUCCESS)
}

/// Shows a proposal, asks, and decides.
pub(super) async fn decide(folder: &Path, decide: &Decide, verb: &str) -> Result<ExitCode, Stop> {
    let remote = Remote::of(folder)?;
    let path = format!("proposals/{}", decide.proposal);
    let by = As { persona: decide.persona.clone() };
    let shown: Shown = remote.send(remote.request(Method::GET, &path).query(&by)).await?;
    show(&shown);
    if !decide.yes && !agreed(verb, &decide.persona)? {
        tell("nothing was changed");
        return Ok(ExitCode::FAILURE);
    }
    let acknowledged = match &shown.acknowledge {
        Some(operation) if verb == "approve" && (decide.acknowledge || known(operation)?) => Some(operation.clone()),
        Some(_) | None => None,
    };
    let body = match verb {
        "revoke" => serde_json::to_value(by)?,
        _ => serde_json::to_value(Decision { persona: decide.persona.clone(), digest: shown.digest, acknowledged })?,
    };
    let answer: Value = remote.send(remote.request(Method::POST, &format!("{path}/{verb}")).json(&body)).await?;
    say(&format!("{}: {}", decide.proposal, outcome(verb, &answer)));
    Ok(ExitCode::SUCCESS)
}

/// Says what became of a refund that needs an operator, over the function that takes an operator's word.
pub(super) async fn resolve(folder: &Path, resolve: &Resolve) -> Result<ExitCode, Stop> {
    let remote = Remote::of(folder)?;
    let by = As { persona: resolve.persona.clone() };
    let Operator { url, token } = remote.send(remote.request(Method::POST, "operators").json(&by)).await?;
    let Resolve { operation, outcome, evidence, .. } = resolve;
    let body = json!({ "operation_id": operation, "outcome": outcome.as_str(), "evidence": evidence });
    let answer: Value = remote.send(remote.client.post(url).bearer_auth(token).json(&body)).await?;
    let state = answer.get("state").and_then(Value::as_str).unwrap_or_default();
    say(&format!("{operation}: {state}"));
    Ok(ExitCode::SUCCESS)
}

/// Stops all refunds.
pub(super) async fn hold(folder: &Path, reason: String) -> Result<ExitCode, Stop> {
    let remote = Remote::of(folder)?;
    let () = remote.send(remote.request(Method::POST, "hold").json(&Hold { reason })).await?;
    say("refunds are held: nothing is accepted or sent until `cargo local release`");
    Ok(ExitCode::SUCCESS)
}

/// Lets refunds go on.
pub(super) async fn release(folder: &Path) -> Result<ExitCode, Stop> {
    let remote = Remote::of(folder)?;
    let () = remote.send(remote.request(Method::POST, "release")).await?;
    say("refunds go on");
    Ok(ExitCode::SUCCESS)
}

/// What a decision means from now on.
fn outcome(verb: &str, answer: &Value) -> String {
    let text = |name| answer.get(name).and_then(Value::as_str);
    match verb {
        "approve" => {
            let until = answer.get("expires_at").and_then(Value::as_i64).unwrap_or_default();
            format!("approved; the agent can submit it until {}", Timestamp::from_seconds(until))
        }
        "reject" => "rejected; it cannot be submitted".to_owned(),
        _ => match (text("operation_id"), text("state")) {
            (Some(operation), Some("queued")) => format!("revoked; {operation} was not sent yet and will not be"),
            (Some(operation), Some(state)) => format!("revoked, but too late for {operation}: it is {state}"),
            _ => "revoked; it cannot be submitted".to_owned(),
        },
    }
}

fn show(shown: &Shown) {
    let width = shown.lines.iter().map(|(label, _)| label.len()).max().unwrap_or_default();
    let mut text = format!("proposal {}\n", shown.proposal_id);
    for (label, line) in &shown.lines {
        text.push_str(&format!("  {label:width$}  {line}\n"));
    }
    text.push_str(&format!("  {:width$}  {}", "digest", shown.digest));
    tell(&text);
}

fn agreed(verb: &str, persona: &str) -> Result<bool, Stop> {
    ask(&format!("{verb} this as {persona}?"), "--yes if a person has decided")
}

fn known(operation: &OperationId) -> Result<bool, Stop> {
    ask(&format!("is this meant beside {operation}?"), "--acknowledge if a person knows of the earlier refund")
}

/// Asks a person. Where nobody can be asked, nobody has agreed.
fn ask(question: &str, instead: &str) -> Result<bool, Stop> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        return Err(format!("nobody can be asked here; say {instead}").into());
    }
    let mut err = std::io::stderr();
    write!(err, "{question} Type yes: ")?;
    err.flush()?;
    let mut line = String::new();
    input.lock().read_line(&mut line)?;
    Ok(line.trim() == "yes")
}

struct Remote {
    run: Run,
    folder: std::path::PathBuf,
    client: reqwest::Client,
}

impl Remote {
    fn of(folder: &Path) -> Result<Self, FolderError> {
        Ok(Self { run: running(folder)?, folder: folder.to_owned(), client: reqwest::Client::new() })
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/control/{path}", self.run.url);
        self.client.request(method, url).header(HEADER, &self.run.control_token)
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Stop> {
        let sent = request.send().await;
        let response = sent.map_err(|_| FolderError::NotRunning(self.folder.clone()))?;
        let accepted = response.status().is_success();
        let body = response.bytes().await?;
        if accepted {
            return Ok(serde_json::from_slice(&body)?);
        }
        let refused: Value = serde_json::from_slice(&body).unwrap_or_else(|_| json!(String::from_utf8_lossy(&body)));
        let said = |name| refused.pointer(name).and_then(Value::as_str);
        Err(match (said("/error/code"), said("/error/message"), said("/error/next_step")) {
            (Some(code), Some(message), Some(next)) => format!("{code}: {message}; {next}").into(),
            _ => refused.to_string().into(),
        })
    }
}
