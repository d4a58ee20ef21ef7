//! `cargo local`: serves until Ctrl-C, and says how to connect.

use std::io::Write as _;
use std::mem;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::binaries::Trigger;
use crate::folder::{Run, is_full};
use crate::gateway::{Gateway, Options};
use crate::lambda::LogSink;

use super::{DEFAULT_FOLDER, Folder, Serve, Stop, build, say, tell};

pub(super) async fn serve(serve: Serve) -> Result<(), Stop> {
    // The database warns of every condition that does not hold, which is how the product finds out who was first.
    let shown = tracing_subscriber::EnvFilter::new("warn,dynoxide=error");
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(shown).init();
    let folder = if serve.memory { None } else { Some(Folder::take(&serve.folder)?) };
    let functions = build::functions().await?;
    let tools: Vec<String> = functions
        .iter()
        .filter(|function| function.trigger == Trigger::Tool)
        .map(|function| function.name.clone())
        .collect();
    let options = Options {
        functions,
        folder: folder.as_ref().map(|folder| folder.path().to_owned()),
        port: serve.port,
        log: log(folder.as_ref())?,
        sweep: None,
        tapped: false,
    };
    let gateway = Gateway::start(options).await?;
    if let Some(folder) = &folder {
        let (url, control_token) = (gateway.url().to_owned(), gateway.control_token().to_owned());
        folder.note(&Run { pid: std::process::id(), url, control_token })?;
    }
    say(&welcome(&gateway, &tools, folder.as_ref()));
    let stopped = stop_signal().await;
    tell("stopping");
    gateway.shutdown().await;
    stopped
}

/// Waits for Ctrl-C, or for the signal with which a supervisor stops a service.
async fn stop_signal() -> Result<(), Stop> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        stopped = tokio::signal::ctrl_c() => Ok(stopped?),
        _ = terminate.recv() => Ok(()),
    }
}

/// The functions' lines go to a file beside the data, or to standard error.
fn log(folder: Option<&Folder>) -> Result<LogSink, Stop> {
    let Some(folder) = folder else {
        return Ok(Arc::new(|function: &str, line: &str| tell(&format!("{function}: {line}"))));
    };
    let log = Mutex::new((folder.log()?, false));
    let path = folder.path().to_owned();
    Ok(Arc::new(move |function: &str, line: &str| {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, full) = &mut *log;
        // A log that cannot be written is no reason to stop. But the database beside it has no room then either.
        let written = file.write_all(format!("{function}: {line}\n").as_bytes());
        let was_full = mem::replace(full, written.is_err_and(|error| is_full(&error)));
        if *full && !was_full {
            tell(&full_disk(&path));
        }
    }))
}

fn full_disk(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "the disk is full; free some space for `{folder}`; until then calls that write are `temporarily_unavailable`"
    )
}

fn welcome(gateway: &Gateway, tools: &[String], folder: Option<&Folder>) -> String {
    let endpoint = gateway.mcp_url();
    let tools = tools.join(", ");
    let kept = folder.map_or_else(
        || "nothing is kept (--memory)".to_owned(),
        |folder| format!("{0}  (log: {0}/functions.log)", folder.path().display()),
    );
    let folder = folder.map(|folder| folder.path().display().to_string()).filter(|path| path != DEFAULT_FOLDER);
    let folder = folder.map_or(String::new(), |path| format!(" --folder {path}"));
    format!(
        "countersign local gateway\n\
         \x20 MCP endpoint  {endpoint}  (Streamable HTTP, bearer token)\n\
         \x20 tools         {tools}\n\
         \x20 refunds       {provider}  (what the payment provider has done)\n\
         \x20 data          {kept}\n\n\
         A token for an agent, good for eight hours:\n\
         \x20 cargo local token acme-agent{folder}\n\n\
         Connect, for example with the MCP Inspector:\n\
         \x20 npx -y @modelcontextprotocol/inspector@2.12.0 --cli {endpoint} --transport http \\\n\
         \x20   --header \"Authorization: Bearer $(cargo local token acme-agent{folder})\" --method tools/list\n\n\
         Approve what an agent has prepared, as a person:\n\
         \x20 cargo local approve PROPOSAL_ID --as acme-approver{folder}\n\n\
         Ctrl-C stops everything.",
        provider = gateway.provider_url(),
    )
}
