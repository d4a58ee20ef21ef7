//! The kernel of tools that an agent can be trusted with. It knows no refund and no test tenant.

pub mod bounded;
pub mod change;
pub mod clock;
pub mod command;
pub mod deadline;
pub mod digest;
pub mod failure;
pub mod item;
pub mod key;
pub mod ledger;
pub mod random;
