//! The local gateway: the whole system on one machine, without Docker and without AWS.

pub mod binaries;
pub mod database;
pub mod lambda;
pub mod schedule;
pub mod stream;
