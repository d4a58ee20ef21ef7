//! Confusable input: what looks like a valid argument and is not, or is and does not look like it, each with the answer
//! that it gets.

#[path = "confusables/json.rs"]
mod json;
#[path = "confusables/numbers.rs"]
mod numbers;
#[path = "confusables/parsing.rs"]
mod parsing;
#[path = "confusables/rows.rs"]
mod rows;
#[path = "confusables/structure.rs"]
mod structure;
#[path = "confusables/texts.rs"]
mod texts;
