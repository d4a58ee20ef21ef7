//! The explorer: runs the product's own decisions against a map, a provider and a clock, in every order that matters.
//!
//! A [`scenario::Scenario`] is a few actors and what may go wrong. [`search::exhaust`] takes every schedule of it, at
//! every boundary between loading, deciding and committing, sending and hearing, and prunes states that it has seen;
//! [`search::walk`] takes random ones. Each step is held against [`rules`], and wherever nobody is in the middle of
//! something, the recovery of [`recovery`] runs to its end and the books are compared with the provider's.
//!
//! Decisions are pure, so each is made once for each command, snapshot and moment, and remembered: see [`product`].
//!
//! Why not `stateright`: its properties look at states, and most of what must hold here is about steps, which would have
//! to be kept in the state and multiply it; its model is shared between threads, which forbids the memory that makes this
//! fast; and its random runs name no seed that outlives a version of its generator.

pub mod actor;
pub mod play;
pub mod product;
pub mod provider;
pub mod recovery;
pub mod rules;
pub mod scenario;
pub mod search;
pub mod world;
