//! Exploration: no schedule of the scenarios breaks a rule, whatever fails in it.

use std::collections::BTreeSet;

use countersign::operation::State;
use explorer::actor::Role;
use explorer::play::{How, Step, apply, steps};
use explorer::scenario::{self, Scenario};
use explorer::search::{Found, Searched, exhaust, walk};
use explorer::telling::{say, setting};

/// The seed of the random schedules where none is given.
const SEED: u64 = 20_261_201;
/// How many random schedules a scenario gets where no number is given.
const WALKS: usize = 120_000;

fn report(
    scenario: &Scenario,
    kind: &str,
    searched: Searched,
    replay: impl FnOnce(&Found) -> String,
) -> BTreeSet<(State, bool)> {
    match searched {
        Ok(covered) => {
            say(&format!(
                "explorer: {:<10} {kind}: {} states, {} steps, {} of them faults, {:.3e} schedules, {} recoveries, {} decisions, {:.1} s",
                scenario.name,
                covered.states,
                covered.steps,
                covered.faults,
                covered.schedules,
                covered.recoveries,
                covered.decisions,
                covered.took.as_secs_f64(),
            ));
            covered.reached
        }
        Err(found) => panic!(
            "{}: {}\nafter {} other schedules, with this one:\n{}\nagain with: {}",
            scenario.name,
            found.rule,
            found.after,
            found.schedule,
            replay(&found)
        ),
    }
}

/// Searches a scenario, and gives the states that operations were in, and whether in conflict.
fn explore(scenario: &Scenario, exhaustive: bool) -> BTreeSet<(State, bool)> {
    let faults = setting("COUNTERSIGN_FAULTS").map_or(scenario.faults, |faults| u8::try_from(faults).unwrap());
    let scenario = &Scenario { faults, ..*scenario };
    let test = format!("cargo test --workspace --test explorer -- {}", scenario.name);
    let mut reached = BTreeSet::new();
    if exhaustive && setting("COUNTERSIGN_WALKS").is_none() {
        reached.extend(report(scenario, "exhausted", exhaust(scenario), |_| test.clone()));
    }
    let seed = setting("COUNTERSIGN_SEED").unwrap_or(SEED);
    let walks = if exhaustive { WALKS } else { WALKS / 2 };
    let walks = setting("COUNTERSIGN_WALKS").map_or(walks, |walks| usize::try_from(walks).unwrap());
    let kind = format!("walked from seed {seed}");
    reached.extend(report(scenario, &kind, walk(scenario, seed, walks), |found| {
        format!("COUNTERSIGN_SEED={} COUNTERSIGN_WALKS=1 {test}", seed + found.after as u64)
    }));
    reached
}

/// What leads nowhere breaks no rule either.
fn leads_to(reached: &BTreeSet<(State, bool)>, states: &[State]) {
    for state in states {
        let led = reached.contains(&(*state, false)) || setting("COUNTERSIGN_WALKS").is_some();
        assert!(led, "no schedule leads to {state}");
    }
}

#[test]
fn submits_of_one_proposal_come_to_one_operation() {
    explore(&scenario::SUBMITS, true);
}

#[test]
fn rivals_for_one_order_never_take_more_than_was_paid() {
    explore(&scenario::RIVALS, true);
}

#[test]
fn twins_that_do_not_name_each_other_are_not_both_accepted() {
    explore(&scenario::TWINS, true);
}

#[test]
fn namesakes_of_one_refund_are_not_both_accepted() {
    explore(&scenario::NAMESAKES, true);
}

#[test]
fn delivery_has_one_effect_whoever_is_away_for_how_long() {
    explore(&scenario::DELIVERY, true);
}

#[test]
fn cancels_come_in_time_or_change_nothing() {
    explore(&scenario::CANCELS, true);
}

#[test]
fn evidence_alone_leads_on_from_what_is_not_known() {
    explore(&scenario::EVIDENCE, true);
}

#[test]
fn withdrawn_approvals_are_not_sent() {
    explore(&scenario::WITHDRAWN, true);
}

#[test]
fn decided_by_a_person_it_is_what_happened() {
    explore(&scenario::DECIDED, true);
}

#[test]
fn stopped_or_withdrawn_it_is_what_the_lookups_find() {
    let reached = explore(&scenario::STOPPED, true);
    leads_to(&reached, &[State::Cancelled, State::Settling, State::Failed, State::Returned, State::NeedsOperator]);
}

#[test]
fn judged_beside_lookups_it_is_what_happened() {
    let reached = explore(&scenario::JUDGED, true);
    leads_to(&reached, &[State::Settling, State::Failed, State::Returned, State::NeedsOperator]);
}

#[test]
fn hasty_decisions_are_found_out() {
    let reached = explore(&scenario::HASTY, true);
    let conflict = reached.iter().any(|(_, conflict)| *conflict);
    assert!(conflict || setting("COUNTERSIGN_WALKS").is_some(), "no schedule leads to a conflict");
}

#[test]
fn everything_at_once_ends_well() {
    let reached = explore(&scenario::EVERYTHING, false);
    leads_to(&reached, State::ALL);
}

#[test]
fn a_decision_that_the_sdk_wrote_twice_is_recognized_though_its_proposal_has_lapsed_since() {
    let actors = &[(Role::Approver { intent: 0 }, 1)];
    let scenario = Scenario { actors, faults: 1, waits: 2, torn: false, ..scenario::SUBMITS };
    let (mut product, mut world) = scenario.begin();
    let twice = Step::Act(0, How::Twice);
    while !steps(&mut product, &scenario, &world).contains(&twice) {
        world = apply(&mut product, &scenario, &world, Step::Act(0, How::Go)).unwrap();
    }
    for step in [twice, Step::Wait(16 * 60), Step::Wait(16 * 60), Step::Act(0, How::Go)] {
        world = apply(&mut product, &scenario, &world, step).unwrap();
    }
}
