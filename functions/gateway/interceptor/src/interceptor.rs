//! `interceptor`: says who is calling before a tool is called, and puts its answer into MCP's form after.
//!
//! Event and answer: <https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-interceptors-types.html>.
//! The gateway may call it again for the same message; it keeps nothing but the issuer's keys.

use countersign::config::{Config, ConfigError};
use countersign::keys::Signer;
use serde_json::{Value, json};
use tokens::Tokens;

use crate::{request, response};

/// What the function is configured with.
pub(crate) struct Interceptor {
    pub(crate) gateway: String,
    pub(crate) signer: Signer,
    pub(crate) tokens: Tokens,
}

impl Interceptor {
    pub(crate) fn from_config(config: &Config) -> Result<Self, ConfigError> {
        Ok(Self {
            gateway: config.gateway_id()?,
            signer: config.signer("COUNTERSIGN_CALLER_SIGNING_KEY")?,
            tokens: Tokens::from_config(config, "COUNTERSIGN_AUDIENCE")?,
        })
    }

    /// Handles one event of either position: with a response in it, it is the RESPONSE half's.
    pub(crate) async fn take(&self, event: &Value) -> Value {
        let mcp = event.get("mcp").unwrap_or(&Value::Null);
        let answer = match mcp.get("gatewayResponse") {
            Some(response) => response::translate(mcp.get("gatewayRequest"), response),
            None => request::admit(self, mcp.get("gatewayRequest")).await,
        };
        json!({ "interceptorOutputVersion": "1.0", "mcp": answer })
    }
}
