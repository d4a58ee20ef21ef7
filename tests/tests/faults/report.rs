//! Counts: what was tried and what came of it, printed, and kept in a file that `.ci/run` shows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;

static COUNTS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

/// Counts one more.
pub(crate) fn add(what: &str) {
    put(what, 1);
}

/// Counts so many more.
pub(crate) fn put(what: &str, many: usize) {
    *COUNTS.lock().unwrap().entry(what.to_owned()).or_default() += many;
}

/// Writes down all counts so far.
pub(crate) fn write() {
    let mut text = String::from("faults over the real binaries:\n");
    for (what, count) in &*COUNTS.lock().unwrap() {
        writeln!(text, "  {count:>7} {what}").unwrap();
    }
    print!("{text}");
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/faults.txt"), text).unwrap();
}
