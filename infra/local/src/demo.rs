//! The demonstration: a refund from prompt to settled, over a real MCP client, with every repeat answered.

mod outcomes;
mod report;
mod steps;

use std::sync::Arc;

use crate::binaries::Function;
use crate::client::Client;
use crate::gateway::{Gateway, Options};
use crate::issuer::Persona;

use report::Report;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Runs every step on a gateway of its own, in memory and on free ports, and says whether all went as expected.
///
/// # Errors
/// When the gateway does not start or a client does not get in.
pub async fn run(functions: Vec<Function>, json: bool) -> Result<bool, Error> {
    let options = Options {
        functions,
        folder: None,
        port: 0,
        log: Arc::new(|_, _| ()),
        sweep: None,
        webhooks: true,
        tapped: false,
    };
    let gateway = Gateway::start(options).await?;
    let mut report = Report::new(json);
    let ran = demonstrate(&gateway, &mut report).await;
    gateway.shutdown().await;
    ran?;
    Ok(report.finish())
}

async fn demonstrate(gateway: &Gateway, report: &mut Report) -> Result<(), Error> {
    let agent = connect(gateway, "acme-agent").await?;
    let stranger = connect(gateway, "globex-agent").await?;
    steps::run(gateway, &agent, &stranger, report).await?;
    agent.close().await;
    stranger.close().await;
    Ok(())
}

async fn connect(gateway: &Gateway, persona: &str) -> Result<Client, Error> {
    let persona = Persona::find(persona).ok_or("there is no such persona")?;
    Ok(Client::connect(&gateway.mcp_url(), &gateway.token(persona)?).await?)
}
