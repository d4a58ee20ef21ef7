//! Faults: whatever goes wrong, wherever it does, the money moves at most once and the books agree in the end.
//!
//! The places are recorded, not listed: each story is played once behind the taps, and every request that passes them is
//! a place. At each place every fault of its kind happens once, then pairs of faults. A death of a process, and that there
//! is no connection to the provider, happen to whoever is there, and so to a refund that is alone. Afterwards nothing goes wrong any
//! more, everybody does what they do by themselves, and the refund is held against all that was promised.
//!
//! Left out, because it would show nothing new: a place that another story comes to in the same way before the provider
//! has answered; of pairs, a second place that the first fault keeps the refund from, and of several faults that look
//! alike to whom they happen (no answer, an error, throttling: nothing done) all but one. `COUNTERSIGN_FAULTS=all` runs
//! all other pairs; without it a selection runs, which `COUNTERSIGN_SEED` repeats. `COUNTERSIGN_CASE` runs only what its
//! name says, as a failure tells it.

#[path = "faults/cases.rs"]
mod cases;
#[path = "faults/hold.rs"]
mod hold;
#[path = "faults/kind.rs"]
mod kind;
#[path = "faults/late.rs"]
mod late;
#[path = "faults/meanwhile.rs"]
mod meanwhile;
#[path = "faults/other.rs"]
mod other;
#[path = "faults/place.rs"]
mod place;
#[path = "faults/recover.rs"]
mod recover;
#[path = "faults/refused.rs"]
mod refused;
#[path = "faults/report.rs"]
mod report;
#[path = "faults/run.rs"]
mod run;
#[path = "faults/story.rs"]
mod story;
#[path = "faults/wire.rs"]
mod wire;

use std::sync::LazyLock;

use cases::{Case, Ran};
use countersign::clock::Timestamp;
use countersign::config::Config;
use kind::Kind;
use place::Place;
use tests::App;

/// How many cases share one gateway at once.
const AT_ONCE: usize = 20;
/// How many pairs share one gateway, one after the other.
const A_GATEWAY: usize = 300;
/// How many pairs run where not all are asked for.
const PAIRS: usize = 150;
/// The same of pairs that begin with a connection that was refused.
const REFUSED: usize = 24;
/// The seed of every selection where none is given.
static SEED: LazyLock<u64> = LazyLock::new(|| u64::try_from(Timestamp::now().seconds()).unwrap());
/// How many lanes there are for refunds that are alone, each with a gateway of its own and one process a function.
const LANES: usize = 2;

#[test]
fn a_refund_survives_every_single_fault_and_pairs_of_them() {
    tests::run(async {
        let app = cases::gateway().await;
        let recorded = cases::recorded(&app).await;
        let places = cases::places(&recorded);
        assert!(places.len() > 20, "{places:?}");
        report::put("places", places.len());
        let singles = cases::asked_for(singles(&places, kind::all));
        report::put("single faults", singles.len());
        let ran = cases::run(&app, singles, AT_ONCE).await;
        let pairs = pairs(&ran);
        report::put("pairs of faults there are", pairs.len());
        let pairs = selected(cases::asked_for(pairs), PAIRS);
        report::put("pairs of faults that ran", pairs.len());
        ended_well(app).await;
        // The database slows down as it fills.
        for pairs in pairs.chunks(A_GATEWAY) {
            let app = cases::gateway().await;
            cases::run(&app, pairs.to_vec(), AT_ONCE).await;
            ended_well(app).await;
        }
        report::write();
    });
}

#[test]
fn a_refund_survives_the_death_of_any_process_at_any_request() {
    tests::run(async {
        let lane = async |number: usize| {
            let app = cases::gateway().await;
            let places = cases::places(&cases::recorded(&app).await);
            let kills = cases::asked_for(singles(&places, kind::kills));
            let ran = cases::run(&app, kills.into_iter().skip(number).step_by(LANES).collect(), 1).await;
            other::refund(&app).await;
            other::logs(&app);
            app.stop().await;
            ran.len()
        };
        let killed: usize = futures::future::join_all((0..LANES).map(lane)).await.iter().sum();
        report::put("processes killed at a place", killed);
        report::write();
    });
}

#[test]
fn a_refund_survives_it_when_there_is_no_connection_to_the_provider() {
    tests::run(async {
        let lane = async |number: usize| {
            let app = cases::gateway().await;
            let of_lane = |cases: Vec<Case>| cases.into_iter().skip(number).step_by(LANES).collect();
            let places = cases::places(&cases::recorded(&app).await);
            let ran = cases::run(&app, of_lane(cases::asked_for(singles(&places, kind::refusals))), 1).await;
            report::put("single times that there was no connection to the provider", ran.len());
            let pairs = followed(&ran);
            report::put("pairs of no connection and another fault there are", pairs.len());
            let pairs = selected(cases::asked_for(pairs), REFUSED / LANES);
            report::put("pairs of no connection and another fault that ran", pairs.len());
            cases::run(&app, pairs, 1).await;
            ended_well(app).await;
        };
        futures::future::join_all((0..LANES).map(lane)).await;
        report::write();
    });
}

/// One case a place and kind.
fn singles(places: &[(&'static story::Story, Place)], kinds: impl Fn(&Place) -> Vec<Kind>) -> Vec<Case> {
    let of = |(story, place): &(&'static story::Story, Place)| {
        let case = |kind| Case { story, faults: vec![(place.clone(), kind)] };
        let fits = |kind: &Kind| *kind != Kind::Again || cases::can_be_repeated(story, place);
        kinds(place).into_iter().filter(fits).map(case).collect::<Vec<_>>()
    };
    places.iter().flat_map(of).collect()
}

/// Each pair of faults of which the second is at a place that the refund came to after the first.
fn pairs(singles: &[Ran]) -> Vec<Case> {
    let different = |Ran { case, .. }: &&Ran| {
        let [(first, kind)] = case.faults.as_slice() else { panic!("not single: {case}") };
        kind::different(first).contains(kind)
    };
    followed(singles.iter().filter(different))
}

/// Each of these faults with each that looks different at a place that the refund came to after it, or in the step that
/// found no connection.
fn followed<'a>(singles: impl IntoIterator<Item = &'a Ran>) -> Vec<Case> {
    let mut pairs = Vec::new();
    for Ran { case, reached } in singles {
        let [(first, kind)] = case.faults.as_slice() else { panic!("not single: {case}") };
        // What was refused passed no tap: it was somewhere in its step.
        let struck = reached.iter().position(|place| place == first).map(|struck| struck + 1);
        let after =
            struck.or_else(|| reached.iter().position(|place| *kind == Kind::Refused && place.step == first.step));
        for second in reached.iter().skip(after.unwrap_or(reached.len())) {
            for other in kind::different(second) {
                let faults = vec![(first.clone(), kind.clone()), (second.clone(), other)];
                pairs.push(Case { story: case.story, faults });
            }
        }
    }
    // In an order of their own: the singles ended in no particular one.
    pairs.sort_by_key(ToString::to_string);
    pairs
}

/// All pairs, or so many as there is time for.
fn selected(mut pairs: Vec<Case>, most: usize) -> Vec<Case> {
    let setting = |name| Config::from_environment().optional(name);
    if setting("COUNTERSIGN_FAULTS").is_some_and(|which| which == "all") || setting("COUNTERSIGN_CASE").is_some() {
        return pairs;
    }
    let seed: u64 = setting("COUNTERSIGN_SEED").map_or_else(|| *SEED, |seed| seed.parse().unwrap());
    println!("COUNTERSIGN_SEED={seed}");
    report::put(&format!("is the number of pairs that COUNTERSIGN_SEED={seed} selects"), most);
    let mut random = seed;
    let mut next = |below: usize| {
        // SplitMix64 (<https://prng.di.unimi.it/splitmix64.c>).
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(below).unwrap()).unwrap()
    };
    let mut chosen = Vec::new();
    while chosen.len() < most && !pairs.is_empty() {
        chosen.push(pairs.swap_remove(next(pairs.len())));
    }
    chosen
}

/// Nobody died in this gateway, and nobody logged what they should not have; it is stopped.
async fn ended_well(app: App) {
    nobody_died(&app);
    other::logs(&app);
    app.stop().await;
}

/// Every process that was started still runs.
fn nobody_died(app: &App) {
    let lambda = app.gateway.lambda();
    for function in
        ["prepare_refund", "submit_refund", "dispatch_refund", "reconcile_refunds", "cancel_refund", "refund_webhook"]
    {
        assert_eq!(lambda.cold_starts(function), lambda.processes(function).len(), "{function}");
    }
}
