//! The subcommands that speak to the gateway that runs, never to its file.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use countersign::bounded::OperationId;
use countersign::clock::Timestamp;
use countersign::operation::State;
use reqwest::{Method, RequestBuilder};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::approvals::{Revoked, Shown};
use crate::control::{As, Decision, HEADER};
use crate::folder::{FolderError, Run, running};

use super::{Decide, Stop, beside, say, tell, words};

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
    let digest = ("digest".to_owned(), shown.digest.clone());
    show(&format!("proposal {}", shown.proposal_id), &[&shown.lines[..], &[digest]].concat());
    if !decide.yes && !agreed(&format!("{verb} this as {}?", decide.persona))? {
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
    say(&format!("{}: {}", decide.proposal, outcome(folder, verb, &answer)?));
    Ok(ExitCode::SUCCESS)
}

/// What a decision means from now on; an error where it came too late to stop the refund for certain.
fn outcome(folder: &Path, verb: &str, answer: &Value) -> Result<String, Stop> {
    match verb {
        "approve" => {
            let until = answer.get("expires_at").and_then(Value::as_i64).unwrap_or_default();
            Ok(format!("approved; the agent can submit it until {}", Timestamp::from_seconds(until)))
        }
        "reject" => Ok("rejected; it cannot be submitted".to_owned()),
        _ => taken_back(folder, serde_json::from_value(answer.clone())?),
    }
}

/// What taking an approval back has come to.
fn taken_back(folder: &Path, Revoked { operation_id, state, attempts }: Revoked) -> Result<String, Stop> {
    let Some((operation, state)) = operation_id.zip(state) else {
        return Ok("revoked; it cannot be submitted".to_owned());
    };
    let look = format!("`cargo local attention {operation} --as OPERATOR{}`", beside(folder));
    match state {
        State::Queued if attempts == 0 => Ok(format!("revoked; {operation} was not sent yet and will not be")),
        State::Queued => Ok(format!(
            "revoked; {operation} was tried without effect and is not tried again; an operator has to close it: {look}"
        )),
        State::Failed | State::Cancelled | State::Expired => {
            Ok(format!("revoked; {operation} is {state}, so that nothing was refunded by it"))
        }
        State::Sending | State::Settling | State::Unknown => Err(format!(
            "revoked, but {operation} is {state}: what was sent cannot be called back; if it turns out not to be at the \
             provider it is not sent again, and an operator has to close it: {look}"
        )
        .into()),
        State::Succeeded => Err(format!(
            "too late: {operation} is {state}, and the money has gone back to the customer; whether it can be had again, the \
             provider knows"
        )
        .into()),
        State::NeedsOperator => {
            Err(format!("too late: {operation} is {state}; an operator says what became of it: {look}").into())
        }
        State::Returned => Err(format!("too late: {operation} is {state}; nothing is left to do").into()),
    }
}

/// Shows what a person is to decide about: a title, and lines of a label and a text.
pub(super) fn show(title: &str, lines: &[(String, String)]) {
    tell(&listed(title, lines));
}

/// A title, and lines of a label and a text under it.
pub(super) fn listed(title: &str, lines: &[(String, String)]) -> String {
    let width = lines.iter().map(|(label, _)| label.len()).max().unwrap_or_default();
    let lines = lines.iter().map(|(label, line)| format!("\n  {label:width$}  {line}"));
    format!("{title}{}", lines.collect::<String>())
}

/// Whether a person says yes.
pub(super) fn agreed(question: &str) -> Result<bool, Stop> {
    ask(question, "--yes if a person has decided")
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

/// The gateway that runs.
pub(super) struct Remote {
    run: Run,
    folder: std::path::PathBuf,
    /// For what is no control route of it.
    pub(super) client: reqwest::Client,
}

impl Remote {
    pub(super) fn of(folder: &Path) -> Result<Self, FolderError> {
        Ok(Self { run: running(folder)?, folder: folder.to_owned(), client: reqwest::Client::new() })
    }

    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/control/{path}", self.run.url);
        self.client.request(method, url).header(HEADER, &self.run.control_token)
    }

    pub(super) async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Stop> {
        let sent = request.send().await;
        let response = sent.map_err(|_| FolderError::NotRunning(self.folder.clone()))?;
        let accepted = response.status().is_success();
        let body = response.bytes().await?;
        if accepted {
            return Ok(serde_json::from_slice(&body)?);
        }
        let refused: Value = serde_json::from_slice(&body).unwrap_or_else(|_| json!(String::from_utf8_lossy(&body)));
        Err(words::refusal(&refused).unwrap_or_else(|| refused.to_string()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revoking_has_failed_where_money_has_moved_or_may_move_and_nowhere_else() {
        let operation = OperationId::parse(&format!("op_{}", "a".repeat(26))).unwrap();
        for state in State::ALL {
            for attempts in [0, 2] {
                let revoked = Revoked { operation_id: Some(operation.clone()), state: Some(*state), attempts };
                let said = taken_back(Path::new("elsewhere"), revoked);
                let stopped = *state == State::Queued || state.is_void();
                assert_eq!(said.is_ok(), stopped, "{state}");
                let said = said.unwrap_or_else(|stop| stop.to_string());
                let closes = [State::Sending, State::Settling, State::Unknown, State::NeedsOperator].contains(state)
                    || (*state == State::Queued && attempts > 0);
                assert_eq!(said.contains("--as OPERATOR --folder elsewhere"), closes, "{said}");
            }
        }
        assert!(taken_back(Path::new("."), Revoked::default()).is_ok());
    }
}
