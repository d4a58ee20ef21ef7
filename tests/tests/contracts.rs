//! Contracts: every bound that a model reads is enforced, every answer is as it was promised, and every effect that a
//! description claims has its test.

#[path = "contracts/answers.rs"]
mod answers;
#[path = "contracts/cases.rs"]
mod cases;
#[path = "contracts/effects.rs"]
mod effects;
#[path = "contracts/printed.rs"]
mod printed;
#[path = "contracts/projected.rs"]
mod projected;
#[path = "contracts/prose.rs"]
mod prose;
#[path = "contracts/schema.rs"]
mod schema;
#[path = "contracts/walk.rs"]
mod walk;
