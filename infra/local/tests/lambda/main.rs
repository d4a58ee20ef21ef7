//! The Lambda stand-in and what feeds it, with real processes and the real embedded database.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod invoke;
mod stream;
mod web;
