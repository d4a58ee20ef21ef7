//! The kernel of tools that an agent can be trusted with. It knows no refund and no test tenant.

pub mod bounded;
pub mod caller;
pub mod change;
pub mod clock;
pub mod command;
pub mod config;
pub mod contract;
pub mod deadline;
pub mod digest;
pub mod failure;
pub mod host;
pub mod invocation;
pub mod item;
pub mod json;
pub mod key;
pub mod keys;
pub mod ledger;
pub mod random;
pub mod tool;
