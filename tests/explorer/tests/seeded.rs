//! Seeded bugs: each mistake that the kernel can be compiled with is found, by whom and how soon.

use std::time::Instant;

use countersign::seeded::{Bug, plant};
use explorer::scenario;
use explorer::search::{Searched, exhaust, walk};
use explorer::telling::say;

/// The seed of the random schedules.
const SEED: u64 = 20_261_201;
/// So many of each scenario, before every schedule of the small ones is taken. The sound product has no finding in any.
const WALKS: usize = 2_000;

#[test]
fn every_seeded_bug_is_found() {
    let mut table = vec![format!("{:<24} | {:<101} | {:>9} | {:>6}", "bug", "caught by", "schedules", "ms")];
    let mut missed = Vec::new();
    for bug in Bug::ALL {
        let began = Instant::now();
        plant(Some(*bug));
        let caught = if let Some(caught) = digest() { Some(caught) } else { explored() };
        plant(None);
        let (by, after) = caught.unwrap_or_else(|| {
            missed.push(bug.as_str());
            ("NOBODY".to_owned(), 0)
        });
        table.push(format!("{:<24} | {by:<101} | {after:>9} | {:>6}", bug.as_str(), began.elapsed().as_millis()));
    }
    say(&table.join("\n"));
    assert!(missed.is_empty(), "not found: {missed:?}");
}

/// The first rule that a random schedule breaks, and how many schedules it took.
fn explored() -> Option<(String, usize)> {
    let walks = scenario::EXHAUSTED.iter().map(|scenario| (scenario, "walk", walk(scenario, SEED, WALKS)));
    let all = scenario::EXHAUSTED.iter().map(|scenario| (scenario, "all", exhaust(scenario)));
    let mut before = 0;
    walks.chain(all).find_map(|(scenario, how, searched): (_, _, Searched)| match searched {
        Ok(covered) => {
            before += covered.played;
            None
        }
        Err(found) => Some((
            format!("{} ({how}): {}", scenario.name, found.rule.split(" (").next().unwrap_or_default()),
            before + found.after + 1,
        )),
    })
}

/// That two proposals which differ in nothing but their id have two digests.
fn digest() -> Option<(String, usize)> {
    let digests = explorer::product::digests_of_two_alike();
    (digests.0 == digests.1).then(|| ("two proposals that differ in their id alone share a digest".to_owned(), 0))
}
