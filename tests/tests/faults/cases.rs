//! Cases: a story with its faults; many at once, and what came of each.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;

use countersign::config::Config;
use futures::FutureExt as _;
use futures::stream::{self, StreamExt as _};
use local::provider::WebhookBehavior;
use tests::App;

use crate::kind::Kind;
use crate::other;
use crate::place::{CREATE, Place};
use crate::run::Run;
use crate::story::{STORIES, Step, Story};

/// A story with what goes wrong in it.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) story: &'static Story,
    pub(crate) faults: Vec<(Place, Kind)>,
}

/// A case that was run, and the places that it came to.
pub(crate) struct Ran {
    pub(crate) case: Case,
    pub(crate) reached: Vec<Place>,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.story.name)?;
        self.faults.iter().try_for_each(|(place, kind)| write!(f, "; {place}: {kind:?}"))
    }
}

/// A gateway whose provider tells of nothing unless it is asked to.
pub(crate) async fn gateway() -> App {
    let app = App::told_and_tapped().await;
    (0..20_000).for_each(|_| app.gateway.provider().webhook_script(WebhookBehavior::Never));
    app
}

/// Runs all cases, so many at once; with every eighth a refund of the other tenant.
///
/// # Panics
/// At the end, when any of them failed.
pub(crate) async fn run(app: &App, cases: Vec<Case>, at_once: usize) -> Vec<Ran> {
    let results = stream::iter(cases.into_iter().enumerate()).map(async |(number, case)| {
        let bystander = async {
            if number % 8 == 0 && at_once > 1 {
                other::refund(app).await;
            }
        };
        let result =
            AssertUnwindSafe(futures::future::join(one(app, &case, at_once == 1), bystander)).catch_unwind().await;
        (case, result)
    });
    let (mut ran, mut failed) = (Vec::new(), Vec::new());
    for (case, result) in results.buffer_unordered(at_once).collect::<Vec<_>>().await {
        match result {
            Ok((reached, ())) => ran.push(Ran { case, reached }),
            Err(panic) => {
                let why = panic.downcast_ref::<String>().map(String::as_str);
                let why = why.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
                failed.push(format!("{case}\n    {why}"));
            }
        }
    }
    assert!(failed.is_empty(), "{} of {} failed:\n{}", failed.len(), failed.len() + ran.len(), failed.join("\n"));
    ran
}

async fn one(app: &App, case: &Case, alone: bool) -> Vec<Place> {
    let run = Run::new(app, case.story, alone).await;
    let reached = run.play(&case.faults).await;
    run.was_struck(&case.faults);
    run.recover().await;
    run.check().await;
    run.forget();
    reached
}

/// The cases that were asked for: all, or those whose name begins with or contains `COUNTERSIGN_CASE`; of a pair, its
/// first fault alone as well.
pub(crate) fn asked_for(cases: Vec<Case>) -> Vec<Case> {
    let Some(asked) = Config::from_environment().optional("COUNTERSIGN_CASE") else { return cases };
    let is_asked = |name: &str| name.contains(&asked) || asked.starts_with(name);
    cases.into_iter().filter(|case| is_asked(&case.to_string())).collect()
}

/// What each story comes to when nothing goes wrong that it is not about.
pub(crate) async fn recorded(app: &App) -> Vec<Ran> {
    run(app, STORIES.iter().map(|story| Case { story, faults: Vec::new() }).collect(), 1).await
}

/// The places of all stories, each with the first story that comes to it: up to the provider's answer they are alike.
pub(crate) fn places(recorded: &[Ran]) -> Vec<(&'static Story, Place)> {
    let mut known: BTreeSet<Vec<Place>> = BTreeSet::new();
    let mut places = Vec::new();
    for Ran { case, reached } in recorded {
        for (position, place) in reached.iter().enumerate() {
            let answered = reached[..position].iter().any(|before| before.operation == CREATE);
            let way = reached[..=position].to_vec();
            if answered || known.insert(way) {
                places.push((case.story, place.clone()));
            }
        }
    }
    places
}

/// Whether the fault's step can be made twice at once.
pub(crate) fn can_be_repeated(story: &Story, place: &Place) -> bool {
    !matches!(story.steps[place.step], Step::Prepare | Step::Webhook)
}
