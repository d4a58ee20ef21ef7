//! Searching: every schedule of a scenario, or random ones that a seed names.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use countersign::change::Change;
use countersign::item::Item;
use countersign::key::Key;
use countersign::operation::State;

use crate::actor::{At, Role};
use crate::play::{Step, apply, steps};
use crate::product::Product;
use crate::recovery::recover;
use crate::scenario::Scenario;
use crate::world::{Broken, Memory, World, fingerprint};

/// What a search has covered.
#[derive(Debug, Clone, Default)]
pub struct Covered {
    /// Different states; of walks, steps.
    pub states: usize,
    /// Steps between states.
    pub steps: usize,
    /// Schedules: of an exhaustive search, how many its states stand for.
    pub schedules: f64,
    /// How many were really played to their end.
    pub played: usize,
    /// How often the recovery was run to its end.
    pub recoveries: usize,
    /// Decisions that were really made.
    pub decisions: usize,
    /// Steps that were faults.
    pub faults: usize,
    /// Which states operations were ever in, and whether in conflict.
    pub reached: BTreeSet<(State, bool)>,
    pub took: Duration,
}

/// A schedule that breaks a rule.
#[derive(Debug, Clone)]
pub struct Found {
    pub rule: String,
    /// How many schedules were played before.
    pub after: usize,
    /// The schedule, a line a step.
    pub schedule: String,
    pub steps: Vec<Step>,
}

/// What a search comes to.
pub type Searched = Result<Covered, Box<Found>>;

/// Whether nobody is in the middle of something.
fn quiet(world: &World) -> bool {
    world.actors.iter().all(|actor| actor.at == At::Rest)
}

struct Frame {
    world: World,
    print: u64,
    steps: Vec<Step>,
    next: usize,
    schedules: f64,
}

/// Takes every schedule, and prunes where a state was seen before.
///
/// # Errors
/// The first schedule that breaks a rule.
pub fn exhaust(scenario: &Scenario) -> Searched {
    let began = Instant::now();
    let (mut product, world) = scenario.begin();
    let mut covered = Covered::default();
    // How many schedules lead on from a state, once they are all taken.
    let mut seen: Memory<u64, f64> = Memory::default();
    let mut ended = 0;
    let mut stack = Vec::new();
    let print = fingerprint(&world);
    seen.insert(print, 0.0);
    let all = steps(&mut product, scenario, &world);
    stack.push(Frame { world, print, steps: all, next: 0, schedules: 0.0 });
    while let Some(frame) = stack.last_mut() {
        let Some(step) = frame.steps.get(frame.next).copied() else {
            let over = frame.steps.is_empty();
            let schedules = if over { 1.0 } else { frame.schedules };
            ended += usize::from(over);
            seen.insert(frame.print, schedules);
            covered.schedules = schedules;
            stack.pop();
            if let Some(parent) = stack.last_mut() {
                parent.schedules += schedules;
            }
            continue;
        };
        frame.next += 1;
        covered.steps += 1;
        covered.faults += usize::from(step.is_fault());
        let taken = apply(&mut product, scenario, &frame.world, step);
        let world = match taken {
            Ok(world) => world,
            Err(broken) => return Err(found(scenario, &stack, broken, ended)),
        };
        let print = fingerprint(&world);
        if let Some(schedules) = seen.get(&print) {
            frame.schedules += schedules;
            continue;
        }
        seen.insert(print, 0.0);
        covered.states += 1;
        let all = steps(&mut product, scenario, &world);
        if quiet(&world) || all.is_empty() {
            covered.recoveries += 1;
            if let Err(broken) = recover(&mut product, scenario, &world) {
                return Err(found(scenario, &stack, broken, ended));
            }
        }
        stack.push(Frame { world, print, steps: all, next: 0, schedules: 0.0 });
    }
    covered.decisions = product.decisions;
    covered.reached = product.reached;
    covered.played = ended;
    covered.took = began.elapsed();
    Ok(covered)
}

fn found(scenario: &Scenario, stack: &[Frame], broken: Broken, after: usize) -> Box<Found> {
    let taken: Vec<Step> =
        stack.iter().filter_map(|frame| frame.steps.get(frame.next.checked_sub(1)?).copied()).collect();
    describe(scenario, taken, broken, after)
}

/// Plays a schedule again and tells it a line a step.
fn describe(scenario: &Scenario, taken: Vec<Step>, broken: Broken, after: usize) -> Box<Found> {
    let (mut product, mut world) = scenario.begin();
    let mut schedule = String::new();
    let mut until = "  and then in the recovery\n";
    for step in &taken {
        let who = match step {
            Step::Act(at, _) => world.actors.get(usize::from(*at)).map(|actor| actor.role),
            Step::Arrive(_) | Step::Settle(..) | Step::Wait(_) => None,
        };
        let _ = write!(schedule, "  at {:>6} s  {step:?}", world.now);
        if let Some(who) = who {
            let _ = write!(schedule, "  {who:?}");
        }
        match apply(&mut product, scenario, &world, *step) {
            Ok(next) => {
                world = next;
                let _ = writeln!(schedule, "  -> {}", operations(&product, &world));
            }
            Err(_) => until = "  -> broken\n",
        }
    }
    schedule.push_str(until);
    Box::new(Found { rule: broken.0, after, schedule, steps: taken })
}

fn operations(product: &Product, world: &World) -> String {
    let all = (0..product.operations.len() as u8).filter_map(|operation| {
        let view = product.view(&world.tables, operation)?;
        let conflict = if view.conflict { ", in conflict" } else { "" };
        Some(format!("{operation}: {} (attempt {}, fence {}{conflict})", view.state, view.attempts, view.fence))
    });
    let refunds = &world.provider.refunds;
    let refunds = if refunds.is_empty() { String::new() } else { format!("; provider: {refunds:?}") };
    format!("{}{refunds}", all.collect::<Vec<_>>().join(", "))
}

/// A small generator whose numbers never change: SplitMix64, <https://prng.di.unimi.it/splitmix64.c>.
#[derive(Debug, Clone, Copy)]
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound as u64) as usize
    }
}

/// The records with which a scenario begins, and the changes that the commands of one random schedule try to commit.
pub fn changes(scenario: &Scenario, seed: u64) -> (Vec<(Key, Item)>, Vec<Change>) {
    let (mut product, mut world) = scenario.begin();
    let records = product.records(&world.tables);
    product.tried = Some(Vec::new());
    let mut dice = Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    for _ in 0..LONGEST {
        let all = steps(&mut product, scenario, &world);
        let Some(step) = (!all.is_empty()).then(|| all[dice.below(all.len())]) else { break };
        match apply(&mut product, scenario, &world, step) {
            Ok(next) => world = next,
            Err(_) => break,
        }
    }
    let tried = product.tried.iter().flatten();
    let changes = tried.map(|change| product.change(*change).clone()).collect();
    (records, changes)
}

/// More steps than a walk takes before its recovery.
const LONGEST: usize = 120;

/// Whether the step is that of somebody who begins to stop something.
fn stops(world: &World, step: Step) -> bool {
    let Step::Act(at, _) = step else { return false };
    let actor = &world.actors[usize::from(at)];
    let stopper =
        matches!(actor.role, Role::Revoker { .. } | Role::Canceller { .. } | Role::Holder | Role::Terms | Role::Chief);
    stopper && actor.at == At::Rest
}

/// Takes so many random schedules; the first is named by the seed, the next by the seed after it.
///
/// # Errors
/// The first schedule that breaks a rule.
pub fn walk(scenario: &Scenario, seed: u64, walks: usize) -> Searched {
    let began = Instant::now();
    let (mut product, beginning) = scenario.begin();
    let mut covered = Covered::default();
    for walk in 0..walks {
        let mut dice = Dice(seed.wrapping_add(walk as u64).wrapping_mul(0x2545_f491_4f6c_dd1d));
        let mut world = beginning.clone();
        let mut taken = Vec::new();
        let mut caution = 2 + dice.below(8);
        while taken.len() < LONGEST {
            let all = steps(&mut product, scenario, &world);
            let (faults, plain): (Vec<Step>, Vec<Step>) = all.into_iter().partition(|step| step.is_fault());
            let from = if !faults.is_empty() && (plain.is_empty() || dice.below(caution) == 0) {
                caution += 1;
                faults
            } else {
                plain
            };
            let Some(mut step) = (!from.is_empty()).then(|| from[dice.below(from.len())]) else { break };
            // Who only stops things goes rarely: otherwise little would come as far as being sent.
            for _ in 0..4 {
                if stops(&world, step) {
                    step = from[dice.below(from.len())];
                }
            }
            taken.push(step);
            covered.steps += 1;
            covered.faults += usize::from(step.is_fault());
            match apply(&mut product, scenario, &world, step) {
                Ok(next) => world = next,
                Err(broken) => return Err(describe(scenario, taken, broken, walk)),
            }
        }
        covered.recoveries += 1;
        if let Err(broken) = recover(&mut product, scenario, &world) {
            return Err(describe(scenario, taken, broken, walk));
        }
        covered.schedules += 1.0;
        covered.played += 1;
    }
    covered.states = covered.steps;
    covered.decisions = product.decisions;
    covered.reached = product.reached;
    covered.took = began.elapsed();
    Ok(covered)
}
