//! Races: whatever arrives at once, an effect happens once, and everybody gets the answer that is theirs.

#[path = "races/submit.rs"]
mod submit;
