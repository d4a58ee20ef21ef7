//! Delivery: whatever the provider does, money moves at most once, and nothing is called failed that may have happened.

#[path = "delivery/evidence.rs"]
mod evidence;
#[path = "delivery/holds.rs"]
mod holds;
#[path = "delivery/lost.rs"]
mod lost;
#[path = "delivery/meanwhile.rs"]
mod meanwhile;
#[path = "delivery/outcomes.rs"]
mod outcomes;
#[path = "delivery/replayed.rs"]
mod replayed;
#[path = "delivery/resent.rs"]
mod resent;
#[path = "delivery/stopped.rs"]
mod stopped;
#[path = "delivery/stumble.rs"]
mod stumble;
#[path = "delivery/unknown.rs"]
mod unknown;
