//! The MCP endpoint: one Streamable HTTP route that treats a call as AgentCore Gateway would.
//!
//! The path of one POST: [`gate`] checks where it comes from, its size and its token, and asks the REQUEST interceptor
//! who is calling; [`server`] lists tools, validates arguments, invokes the tool's function and hands its return value
//! to the RESPONSE interceptor; `rmcp` speaks the protocol in between, both generations of it.
//!
//! Where it differs from AgentCore, on purpose:
//! - it fails closed: a message whose interceptor failed, or named no caller, goes no further;
//! - it validates arguments against the *full* input schema and answers against the full output schema, where AgentCore
//!   knows only a subset of JSON Schema;
//! - only `tools/call` passes the RESPONSE interceptor; lists and handshakes do not.

mod catalog;
mod context;
mod functions;
mod gate;
mod interceptor;
mod outcome;
mod server;
mod sessions;

use std::sync::Arc;

use axum::Router;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio_util::sync::CancellationToken;

use self::{catalog::Catalog, gate::Gate, interceptor::Interceptor, server::Server, sessions::Sessions};
pub use self::{
    catalog::{CatalogError, ListedTool},
    functions::Functions,
};

/// The path of the endpoint.
pub const PATH: &str = "/mcp";

/// The most bytes of one request body.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// Decides whether a bearer token may enter, as AgentCore's JWT authorizer does before any interceptor runs.
pub type Authorizer = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What an endpoint needs to know beside its tools and its functions.
#[derive(Clone)]
pub struct Settings {
    /// The gateway's id, as tools see it in their client context and in caller assertions.
    pub gateway_id: String,
    /// The base URL of the issuer that serves `/.well-known/oauth-protected-resource`; a refused client is sent there.
    pub issuer: String,
    /// Judges each request's bearer token. Use [`any_token`] to leave that to the interceptor alone.
    pub authorizer: Authorizer,
    /// Ends all sessions and streams, so that a server can shut down while clients listen.
    pub shutdown: CancellationToken,
}

/// An authorizer that takes any token, for tests whose interceptor is the judge.
#[must_use]
pub fn any_token() -> Authorizer {
    Arc::new(|_| true)
}

/// A router with the MCP endpoint at [`PATH`].
///
/// # Errors
///
/// A tool whose contract cannot be listed, or two tools of one name.
pub fn router<F: Functions>(
    tools: Vec<ListedTool>,
    functions: Arc<F>,
    settings: Settings,
) -> Result<Router, CatalogError> {
    let catalog = Arc::new(Catalog::new(tools)?);
    let functions: Arc<dyn Functions> = functions;
    let interceptor = Interceptor::new(Arc::clone(&functions));
    let server = Server::new(catalog, functions, interceptor.clone(), settings.gateway_id.clone());
    // Host and Origin were checked by the gate, before any interceptor ran; rmcp's own check of Host stays on behind it.
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(MAX_REQUEST_BYTES)
        .with_cancellation_token(settings.shutdown.clone());
    let manager = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::clone(&manager), config);
    let gate = Gate::new(interceptor, Sessions::new(manager), settings);
    Ok(Router::new()
        .route_service(PATH, service)
        .layer(axum::middleware::from_fn_with_state(Arc::new(gate), gate::admit)))
}
