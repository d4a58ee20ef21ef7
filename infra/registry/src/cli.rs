//! The command line: `cargo registry`.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::definitions::{self, Stop};

/// What was approved as a tool, and whether the tools still are that.
#[derive(Debug, Parser)]
#[command(name = "cargo registry", bin_name = "cargo registry")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare every tool's contract with its file and with what was approved.
    Check,
    /// Write every tool's contract to `tool-definitions/`, or print one as a gateway's inline schema.
    Render {
        /// Print this tool's definition in the gateway's subset of JSON Schema, and write nothing.
        #[arg(long, value_name = "TOOL")]
        projection: Option<String>,
    },
    /// Record that somebody approves a tool's contract as it stands in its file.
    Approve {
        /// The tool.
        tool: String,
        /// Who approves.
        #[arg(long)]
        by: String,
    },
}

/// Runs the command that the process was started with.
pub(crate) async fn run() -> ExitCode {
    match carry_out(Cli::parse().command).await {
        Ok(code) => code,
        Err(stop) => {
            tell(&format!("error: {stop}"));
            ExitCode::FAILURE
        }
    }
}

async fn carry_out(command: Command) -> Result<ExitCode, Stop> {
    match command {
        Command::Approve { tool, by } => definitions::approve(&tool, &by)?,
        Command::Render { projection: None } => definitions::write(&definitions::contracts().await?)?,
        Command::Render { projection: Some(tool) } => {
            print(&definitions::projection(&definitions::contracts().await?, &tool)?);
        }
        Command::Check => {
            let contracts = definitions::contracts().await?;
            let drift = definitions::drift(&contracts)?;
            drift.iter().for_each(|line| tell(line));
            if !drift.is_empty() {
                return Ok(ExitCode::FAILURE);
            }
            tell(&format!("registry: {} tools are what was approved", contracts.len()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::print_stdout, reason = "the definition is what was asked for")]
fn print(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "what the command found")]
fn tell(text: &str) {
    eprintln!("{text}");
}
