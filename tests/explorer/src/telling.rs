//! Telling: what a search is told from outside, and how it says what it has covered.

use std::io::Write as _;

/// A number from the environment, where there is one.
#[expect(clippy::disallowed_methods, reason = "a developer's wish for one run, and no setting of the product")]
pub fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// A line past the test harness, which would keep it to itself when all is well.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
