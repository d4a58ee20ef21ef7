//! Seeded bugs: each is found.

fn main() {}
