//! What the issuer publishes about itself, and the description of the protected resource.

use std::sync::Arc;

use axum::routing::{MethodRouter, get};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::Issuer;
use super::sign_in::{self, Client};

impl Issuer {
    /// The issuer's documents and its sign-in for `clients`, reached at `base`, and the description of the protected
    /// resource at the URL `resource`: the MCP endpoint.
    ///
    /// The issuer's name need not be where it is reached. Discovery is
    /// <https://openid.net/specs/openid-connect-discovery-1_0.html>, the resource's description is
    /// <https://www.rfc-editor.org/rfc/rfc9728>.
    pub fn router(&self, base: &str, resource: &str, clients: Vec<Client>) -> Router {
        let configuration = json!({
            "issuer": self.url(),
            "authorization_endpoint": format!("{base}{}", sign_in::AUTHORIZE),
            "token_endpoint": format!("{base}{}", sign_in::TOKEN),
            "jwks_uri": format!("{base}/jwks.json"),
            "scopes_supported": ["openid"],
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "id_token_signing_alg_values_supported": ["EdDSA"],
            "subject_types_supported": ["public"],
            "prompt_values_supported": ["login"],
        });
        let description = json!({
            "resource": resource,
            "resource_name": "Countersign, local gateway",
            "authorization_servers": [self.url()],
            "bearer_methods_supported": ["header"],
        });
        Router::new()
            .route("/.well-known/openid-configuration", document(configuration))
            .route("/jwks.json", document(self.jwks()))
            .route("/.well-known/oauth-protected-resource", document(description.clone()))
            // Where a client looks that was given no address: the well-known part before the resource's own path.
            .route("/.well-known/oauth-protected-resource/mcp", document(description))
            .merge(sign_in::router(self.clone(), clients))
    }
}

/// A route that always answers the same document.
fn document(body: Value) -> MethodRouter {
    let body = Arc::new(body);
    get(move || {
        let body = Arc::clone(&body);
        async move { Json(body) }
    })
}
