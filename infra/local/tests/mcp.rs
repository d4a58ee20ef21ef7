//! The MCP endpoint and the provider simulator, as their clients meet them: over HTTP.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[path = "mcp/calls.rs"]
mod calls;
#[path = "mcp/clients.rs"]
mod clients;
#[path = "mcp/double.rs"]
mod double;
#[path = "mcp/gate.rs"]
mod gate;
#[path = "mcp/provider.rs"]
mod provider;
#[path = "mcp/provider_lookups.rs"]
mod provider_lookups;
#[path = "mcp/provider_webhooks.rs"]
mod provider_webhooks;

use axum::Router;

/// Serves a router on a free port until the test ends; the answer is its base URL.
async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}
