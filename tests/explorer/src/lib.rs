//! The explorer: runs the product's own decisions against a map, a provider and a clock, in every order that matters.
//!
//! A [`scenario::Scenario`] is a few actors and what may go wrong. [`search::exhaust`] takes every schedule of it, at
//! every boundary between loading, deciding and committing, sending and hearing, and prunes states that it has seen;
//! [`search::walk`] takes random ones. Each step is held against [`rules`], and wherever nobody is in the middle of
//! something, the recovery of [`recovery`] runs to its end and the books are compared with the provider's.
//!
//! Decisions are pure, so each is made once for each command, snapshot and moment, and remembered: see [`product`].
//!
//! What is covered: of each scenario in [`scenario::EXHAUSTED`] every schedule with at most three faults, where
//! [`play::steps`] leaves out only what comes to the same as another schedule; of all of them, and of
//! [`scenario::EVERYTHING`], random schedules besides. Nothing spans two scenarios exhaustively: where cancelling and
//! withdrawing meet lookups (`stopped`), and a person does (`judged`), one worker is at it after the other; that two are at
//! once is in `delivery`, `cancels`, `withdrawn`, `decided` and `hasty`. A person meets one lookup after the other in these
//! two, and two at once in `judged`. All of it together is met in random schedules alone.
//!
//! What is assumed: a worker, a request or a reply may be late by any time within the provider's window, and is gone after
//! it; a decision is committed in the moment in which it was made, or loses; `execute`, `deliver` and `reconcile`, which do
//! the input and output around the decisions, are told again in [`play`].
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
pub mod telling;
pub mod world;
