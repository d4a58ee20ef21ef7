//! The whole system on one machine: an MCP gateway, a Lambda runtime, a provider and an issuer, all on loopback.

pub mod issuer;
pub mod mcp;
pub mod provider;
