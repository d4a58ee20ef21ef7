//! Races: whatever arrives at once, an effect happens once, and everybody gets the answer that is theirs.

#[path = "races/crowds.rs"]
mod crowds;
#[path = "races/decide.rs"]
mod decide;
#[path = "races/deliver.rs"]
mod deliver;
#[path = "races/prepare.rs"]
mod prepare;
#[path = "races/rivals.rs"]
mod rivals;
#[path = "races/submit.rs"]
mod submit;
