//! What an adversary tried: records written past the tools, tokens that are nearly right, wishes made twice.

#[path = "adversary/alike.rs"]
mod alike;
#[path = "adversary/identity.rs"]
mod identity;
#[path = "adversary/ledger.rs"]
mod ledger;
