//! The kernel of tools that an agent can be trusted with. It knows no business domain.

pub mod bounded;
pub mod caller;
pub mod change;
pub mod clock;
pub mod command;
pub mod config;
pub mod consent;
pub mod contract;
pub mod deadline;
pub mod delivery;
pub mod digest;
pub mod effect;
pub mod failure;
pub mod hold;
pub mod host;
pub mod intent;
pub mod invocation;
pub mod item;
pub mod json;
pub mod key;
pub mod keys;
pub mod ledger;
pub mod operation;
pub mod random;
pub mod submit;
pub mod tool;
