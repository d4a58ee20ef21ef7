//! `cargo local`: serves until Ctrl-C, and says how to connect.

use std::io::Write as _;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::binaries::Trigger;
use crate::folder::{Run, is_full};
use crate::gateway::{Gateway, Options, PAGE};
use crate::lambda::LogSink;

use super::alarm::Alarms;
use super::{Folder, Serve, Stop, beside, build, say, tell};

pub(super) async fn serve(path: PathBuf, serve: Serve) -> Result<(), Stop> {
    // The database warns of every condition that does not hold, which is how the product finds out who was first.
    let shown = tracing_subscriber::EnvFilter::new("warn,dynoxide=error,rmcp=error");
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_env_filter(shown).init();
    let folder = Folder::take(&path)?;
    let functions = build::functions().await?;
    let tools: Vec<String> = functions
        .iter()
        .filter(|function| function.trigger == Trigger::Tool)
        .map(|function| function.name.clone())
        .collect();
    let pages: Vec<String> = functions
        .iter()
        .filter(|function| function.trigger == Trigger::Http)
        .map(|function| function.name.clone())
        .collect();
    let options = Options {
        functions,
        folder: (!serve.memory).then(|| folder.path().to_owned()),
        port: serve.port,
        log: log(&folder)?,
        sweep: None,
        webhooks: true,
        tapped: false,
    };
    let gateway = Gateway::start(options).await?;
    let (url, control_token) = (gateway.url().to_owned(), gateway.control_token().to_owned());
    folder.note(&Run { pid: std::process::id(), url, control_token })?;
    say(&welcome(&gateway, &tools, &pages, &folder, serve.memory));
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

/// The functions' lines go to a file beside the data, and those that are for a person to the terminal as well.
fn log(folder: &Folder) -> Result<LogSink, Stop> {
    let log = Mutex::new((folder.log()?, false, Alarms::of(folder.path())));
    let path = folder.path().to_owned();
    Ok(Arc::new(move |function: &str, line: &str| {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, full, alarms) = &mut *log;
        if let Some(alarm) = alarms.heard(line) {
            tell(&alarm);
        }
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

fn welcome(gateway: &Gateway, tools: &[String], pages: &[String], folder: &Folder, memory: bool) -> String {
    let endpoint = gateway.mcp_url();
    let tools = tools.join(", ");
    let served = pages.iter().filter_map(|page| Some((page, gateway.http_url(page)?)));
    let pages: String = served.map(|(page, url)| format!("  {page:13} {url}\n")).collect();
    let path = folder.path().display().to_string();
    let kept = if memory { "nothing is kept (--memory)" } else { path.as_str() };
    let folder = beside(folder.path());
    format!(
        "countersign local gateway\n\
         \x20 MCP endpoint  {endpoint}  (Streamable HTTP, bearer token)\n\
         \x20 tools         {tools}\n\
         {pages}\
         \x20 refunds       {provider}  (what the payment provider has done)\n\
         \x20 database      {database}  (DynamoDB's API; takes any signature)\n\
         \x20 data          {kept}  (log: {path}/functions.log)\n\n\
         A token for an agent, good for eight hours:\n\
         \x20 cargo local token acme-agent{folder}\n\n\
         Connect, for example with the MCP Inspector:\n\
         \x20 npx -y @modelcontextprotocol/inspector@2.12.0 --cli {endpoint} --transport http \\\n\
         \x20   --header \"Authorization: Bearer $(cargo local token acme-agent{folder})\" --method tools/list\n\n\
         Approve what an agent has prepared, as a person: {approve}\n\
         \x20 cargo local approve PROPOSAL_ID --as acme-approver{folder}\n\n\
         Ctrl-C stops everything.",
        provider = gateway.provider_url(),
        database = gateway.database_url(),
        approve = gateway.http_url(PAGE).map_or_else(String::new, |page| format!("open {page}, or")),
    )
}
