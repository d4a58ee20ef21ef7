//! Whose session is whose: an MCP session is for whoever opened it. To anyone else it is as if there were none.
//!
//! A session's id is no credential (<https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices>):
//! each request is decided by its own token, but answers and questions of a session would still reach whoever knows its id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue};
use jsonwebtoken::dangerous::insecure_decode_claims;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde::Deserialize;

/// The header that names a session.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Who opened a session: a human in a tenant, so that a fresh token goes on with it; else whoever holds the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    Principal { issuer: String, tenant: String, principal: String },
    Bearer(String),
}

impl Owner {
    /// Whose token it is. It must have been verified.
    pub(super) fn of(token: &str) -> Self {
        #[derive(Deserialize)]
        struct Claims {
            iss: String,
            tenant: String,
            principal: String,
        }
        match insecure_decode_claims(token) {
            Ok(Claims { iss, tenant, principal }) => Self::Principal { issuer: iss, tenant, principal },
            Err(_) => Self::Bearer(token.to_owned()),
        }
    }
}

/// The sessions that are open, with their owners.
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    owners: Mutex<HashMap<String, Owner>>,
}

impl Sessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Self {
        Self { manager, owners: Mutex::default() }
    }

    /// Leaves the session's name in a request of its owner's; in any other it names one that cannot be.
    pub(super) fn hide(&self, headers: &mut HeaderMap, by: &Owner) {
        let Some(named) = headers.get(SESSION) else { return };
        let own = named.to_str().is_ok_and(|id| self.owners().get(id) == Some(by));
        if !own {
            headers.insert(SESSION, HeaderValue::from_static("none"));
        }
    }

    /// Notes who opened the session that a response names, and forgets those that have ended.
    pub(super) async fn note(&self, response: &HeaderMap, by: Owner) {
        let Some(id) = response.get(SESSION).and_then(|id| id.to_str().ok()) else { return };
        let open = self.manager.sessions.read().await;
        let mut owners = self.owners();
        owners.retain(|id, _| open.contains_key(id.as_str()));
        owners.entry(id.to_owned()).or_insert(by);
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<String, Owner>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
