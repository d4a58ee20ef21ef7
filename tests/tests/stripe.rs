//! The Stripe adapter by itself: what it concludes from the simulator, and from programs that nobody here wrote.

#[path = "stripe/adapter.rs"]
mod adapter;
#[path = "stripe/lookups.rs"]
mod lookups;
#[path = "stripe/official.rs"]
mod official;
#[path = "stripe/peer.rs"]
mod peer;
#[path = "stripe/stateful.rs"]
mod stateful;
#[path = "stripe/webhooks.rs"]
mod webhooks;
