//! What the tests share: one gateway a test binary, with the real function binaries and the real database engine.
//!
//! Every test makes orders of its own, so that tests do not see each other.

pub mod accounts;
pub mod apart;
pub mod app;
pub mod direct;
pub mod dump;
pub mod people;
pub mod process;
pub mod rounds;
pub mod tables;
pub mod watched;
pub mod worker;

pub use app::{App, quiet, run, shared};
pub use direct::Direct;
pub use rounds::rounds;

/// Counts upwards within a test binary: for names that no other test uses.
pub fn unique() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
