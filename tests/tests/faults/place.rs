//! Places: where on an operation's way something can go wrong, as the taps have recorded it.

use local::gateway::Taps;
use local::tap::Seen;

/// Which tap a request passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Before {
    Database,
    Provider,
}

/// One request of one step of a story: the `nth` of its function and operation in that step, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) step: usize,
    pub(crate) before: Before,
    pub(crate) by: String,
    pub(crate) operation: String,
    pub(crate) nth: usize,
    /// How many records it names.
    pub(crate) items: usize,
}

pub(crate) const CREATE: &str = "POST /v1/refunds";
pub(crate) const LOOKUP: &str = "GET /v1/refunds";

impl Place {
    pub(crate) fn writes(&self) -> bool {
        ["TransactWriteItems", "UpdateItem", "PutItem"].contains(&self.operation.as_str())
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { step, by, operation, nth, items, .. } = self;
        write!(f, "step {step}, {by} {operation}({items}) #{nth}")
    }
}

/// A request with the tap that it passed.
#[derive(Debug, Clone)]
pub(crate) struct Passed {
    pub(crate) before: Before,
    pub(crate) seen: Seen,
}

/// What has passed both taps about one of these words, in the order of arrival.
pub(crate) fn passed(taps: &Taps, words: &[String]) -> Vec<Passed> {
    let of = |before, seen: Vec<Seen>| seen.into_iter().map(move |seen| Passed { before, seen });
    let database = of(Before::Database, taps.database.about(words));
    let mut all: Vec<_> = database.chain(of(Before::Provider, taps.provider.about(words))).collect();
    all.sort_by_key(|passed| passed.seen.arrived_at);
    all
}

/// The places of one step.
pub(crate) fn places(step: usize, passed: &[Passed]) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for Passed { before, seen } in passed {
        let alike = |place: &&Place| {
            (place.before, place.by.as_str(), place.operation.as_str())
                == (*before, seen.by.as_str(), seen.operation.as_str())
        };
        let nth = places.iter().filter(alike).count();
        let (by, operation) = (seen.by.clone(), seen.operation.clone());
        places.push(Place { step, before: *before, by, operation, nth, items: seen.items });
    }
    places
}
