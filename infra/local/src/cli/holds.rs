//! Holding and releasing all refunds, and what is on record of it.

use std::path::Path;
use std::process::ExitCode;

use countersign::hold::{Holds, Switched, Turn};
use reqwest::Method;

use crate::control::Hold;

use super::remote::Remote;
use super::{Stop, Switch, beside, say, words};

/// Holds or releases all refunds.
pub(super) async fn switch(folder: &Path, switch: &Switch, turn: Turn) -> Result<ExitCode, Stop> {
    let remote = Remote::of(folder)?;
    let (path, done) = match turn {
        Turn::Held => {
            let until = format!("until `cargo local release --as {} --reason …{}`", switch.persona, beside(folder));
            ("hold", format!("refunds are held: nothing is accepted or sent {until}"))
        }
        Turn::Released => ("release", "refunds go on".to_owned()),
    };
    let body = Hold { persona: switch.persona.clone(), reason: switch.reason.to_string() };
    let () = remote.send(remote.request(Method::POST, path).json(&body)).await?;
    say(&done);
    Ok(ExitCode::SUCCESS)
}

/// Shows whether they are held, and how that came about.
pub(super) async fn show(folder: &Path) -> Result<ExitCode, Stop> {
    let remote = Remote::of(folder)?;
    let Holds { held_at, reason, switches, truncated } = remote.send(remote.request(Method::GET, "holds")).await?;
    match held_at {
        Some(since) => {
            let why = words::visible(reason.as_deref().unwrap_or("nobody said why"));
            say(&format!("refunds are held since {since}: {why}"));
        }
        None => say("refunds are not held"),
    }
    for Switched { turn, at, by, by_tenant, reason } in switches {
        say(&words::visible(&format!("  {at}  {:8}  by {by} of {by_tenant}: {reason}", turn.as_str())));
    }
    if truncated {
        say("  and older ones, which are not shown");
    }
    Ok(ExitCode::SUCCESS)
}
