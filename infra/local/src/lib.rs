//! The local gateway: the whole system on one machine, all on loopback, without Docker and without AWS.

pub mod approvals;
pub mod binaries;
pub mod cli;
pub mod client;
pub mod control;
pub mod database;
pub mod demo;
pub mod folder;
pub mod gateway;
pub mod issuer;
pub mod keys;
pub mod lambda;
pub mod listener;
pub mod mcp;
pub mod provider;
pub mod schedule;
pub mod stream;
pub mod tap;
pub mod visitor;
pub mod web;
pub mod world;
