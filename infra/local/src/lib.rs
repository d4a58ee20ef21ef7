//! The local gateway: the whole system on one machine, all on loopback, without Docker and without AWS.

pub mod binaries;
pub mod database;
pub mod issuer;
pub mod lambda;
pub mod mcp;
pub mod provider;
pub mod schedule;
pub mod stream;
