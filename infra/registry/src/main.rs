//! `cargo registry`: what was approved as a tool, and whether the tools still are that.

mod cli;
mod definitions;
mod difference;

#[tokio::main]
async fn main() -> std::process::ExitCode {
    cli::run().await
}
