//! The command line: `cargo local`.

mod alarm;
mod build;
mod holds;
mod operator;
mod remote;
mod serve;
mod words;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use countersign::bounded::{OperationId, Remark};
use countersign::delivery::{Place, Resolution};
use countersign::hold::Turn;
use refunds::ProposalId;

use crate::{demo, folder};

/// The usual port of the MCP endpoint.
const PORT: u16 = 8700;
/// Where a gateway keeps what it keeps, unless told otherwise.
const DEFAULT_FOLDER: &str = ".countersign";

/// The whole system on one machine: MCP gateway, functions, database, payment provider, issuer.
#[derive(Debug, Parser)]
#[command(name = "cargo local", bin_name = "cargo local", version)]
struct Cli {
    #[command(flatten)]
    serve: Serve,
    /// Where data, keys and the note for the subcommands are kept.
    #[arg(long, default_value = DEFAULT_FOLDER, global = true)]
    folder: PathBuf,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What to serve from.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The port of the MCP endpoint, which those of the pages follow; 0 for any free ones.
    #[arg(long, default_value_t = PORT)]
    port: u16,
    /// Keep no data and no keys.
    #[arg(long)]
    memory: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve until Ctrl-C (this is what happens without a command).
    Serve(Serve),
    /// Watch a refund go from prompt to settled, on a gateway of its own.
    Demo {
        /// One JSON object a step.
        #[arg(long)]
        json: bool,
    },
    /// Print an access token for a persona.
    Token {
        /// Such as acme-agent.
        persona: String,
    },
    /// Approve a proposal as a person.
    Approve(Decide),
    /// Reject a proposal as a person.
    Reject(Decide),
    /// Take an approval back, as long as nothing was sent.
    Revoke(Decide),
    /// List what needs a person, or show one refund.
    Attention(Attention),
    /// Say, as an operator, what became of a refund that needs one.
    Resolve(Resolve),
    /// Stop all refunds: nothing is accepted or sent.
    Hold(Switch),
    /// Let refunds go on.
    Release(Switch),
    /// Show whether refunds are held, and who held and released them, when and why.
    Holds,
}

/// What an operator looks at.
#[derive(Debug, Args)]
pub(crate) struct Attention {
    /// One refund, by its operation_id; without it, all that wait for a person are listed.
    #[arg(value_parser = OperationId::parse)]
    operation: Option<OperationId>,
    /// The persona who looks, such as acme-operator.
    #[arg(long = "as")]
    persona: String,
    /// Go on after the page that gave this.
    #[arg(long, value_parser = Place::parse, conflicts_with = "operation")]
    after: Option<Place>,
}

/// Who holds or releases, and why.
#[derive(Debug, Args)]
pub(crate) struct Switch {
    /// The persona who does it, such as acme-operator.
    #[arg(long = "as")]
    persona: String,
    /// Why, for whoever asks later: 1 to 500 characters.
    #[arg(long, value_parser = Remark::parse)]
    reason: Remark,
}

/// What an operator found out.
#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// The operation_id that is needs_operator or in conflict.
    #[arg(value_parser = OperationId::parse)]
    operation: OperationId,
    /// The persona who found it out, such as acme-operator.
    #[arg(long = "as")]
    persona: String,
    /// What became of it: succeeded or failed.
    #[arg(long, value_parser = Resolution::parse)]
    outcome: Resolution,
    /// How it was found out, in 1 to 500 characters.
    #[arg(long, value_parser = Remark::parse)]
    evidence: Remark,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

/// Who decides about what.
#[derive(Debug, Args)]
pub(crate) struct Decide {
    /// The proposal_id that prepare_refund returned.
    #[arg(value_parser = ProposalId::parse)]
    proposal: ProposalId,
    /// The persona who decides, such as acme-approver.
    #[arg(long = "as")]
    persona: String,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Say that you know of the earlier refund that the proposal names.
    #[arg(long)]
    acknowledge: bool,
}

/// Anything that ends a command; its text says what to do.
pub(crate) type Stop = Box<dyn std::error::Error + Send + Sync>;

/// Runs the command that the process was started with.
pub async fn run() -> ExitCode {
    let Cli { serve, folder, command } = Cli::parse();
    if command.is_some() && (serve.memory || serve.port != PORT) {
        let message = "--port and --memory are for serving: give them after `serve`, or without a command";
        Cli::command().error(ErrorKind::ArgumentConflict, message).exit();
    }
    let ran = match command {
        None => serve::serve(folder, serve).await.map(|()| ExitCode::SUCCESS),
        Some(Command::Serve(serve)) => serve::serve(folder, serve).await.map(|()| ExitCode::SUCCESS),
        Some(Command::Demo { json }) => demonstrate(json).await,
        Some(Command::Token { persona }) => remote::token(&folder, &persona).await,
        Some(Command::Approve(decide)) => remote::decide(&folder, &decide, "approve").await,
        Some(Command::Reject(decide)) => remote::decide(&folder, &decide, "reject").await,
        Some(Command::Revoke(decide)) => remote::decide(&folder, &decide, "revoke").await,
        Some(Command::Attention(attention)) => operator::attention(&folder, &attention).await,
        Some(Command::Resolve(resolve)) => operator::resolve(&folder, &resolve).await,
        Some(Command::Hold(switch)) => holds::switch(&folder, &switch, Turn::Held).await,
        Some(Command::Release(switch)) => holds::switch(&folder, &switch, Turn::Released).await,
        Some(Command::Holds) => holds::show(&folder).await,
    };
    ran.unwrap_or_else(|stop| {
        tell(&format!("error: {stop}"));
        ExitCode::FAILURE
    })
}

async fn demonstrate(json: bool) -> Result<ExitCode, Stop> {
    let functions = build::functions().await?;
    Ok(if demo::run(functions, json).await? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a command for this folder has to say beside what it says for the usual one.
pub(crate) fn beside(folder: &Path) -> String {
    if folder == Path::new(DEFAULT_FOLDER) { String::new() } else { format!(" --folder {}", folder.display()) }
}

/// What the command was asked for, on standard output.
///
/// Whoever reads it may have stopped listening; that is no reason to fail.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// What a person should know beside it, on standard error.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

pub(crate) use folder::Folder;
