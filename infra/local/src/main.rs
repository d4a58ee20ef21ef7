//! `cargo local`: the local gateway's command line.

#[tokio::main]
async fn main() -> std::process::ExitCode {
    local::cli::run().await
}
