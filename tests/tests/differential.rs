//! Differences: the map that tells what a change means, and the database that the product runs on, agree on every change.

#[path = "differential/both.rs"]
mod both;
#[path = "differential/made_up.rs"]
mod made_up;
#[path = "differential/real.rs"]
mod real;
