//! Kinds of faults, and which of them can happen at a place.

use std::time::Duration;

use local::provider::{Behavior, LookupBehavior};
use local::tap::Fault;

use crate::place::{Before, CREATE, LOOKUP, Place};

/// What happens at a place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// The tap does this to so many requests in a row. Three are all that the SDK tries; eight contended commits are all
    /// that a command tries.
    Tap(Fault, usize),
    /// The provider treats a request to create a refund like this.
    Create(Behavior),
    /// The provider treats a lookup like this.
    Look(LookupBehavior),
    /// The same call is made once more while the request is under way.
    Again,
    /// The request is held up. Meanwhile the lease lapses, another worker comes, and the provider is asked twice.
    Overtaken,
    /// The same, and the first worker is told to come again later while the request of the second is still under way.
    Outlived,
    /// It is carried out, the reply is lost, and its repetition is told that it is still at work.
    AtWork,
    /// Nobody listens where the provider is reached, as long as the step takes.
    Refused,
    /// The process is killed while the request is at the tap: before or after it is carried out.
    Kill(Fault),
}

/// Longer than the SDK waits for one attempt: the request arrives after its own repetition.
const LATE: Duration = Duration::from_millis(1_300);
const ATTEMPTS: usize = 3;
const ROUNDS: usize = 8;

/// Every fault that can happen at this place, but for a killed process.
pub(crate) fn all(place: &Place) -> Vec<Kind> {
    use Fault::{Delay, HangAfter, HangBefore, LoseReply, LoseRequest, ServerError, Throttle};
    if place.before == Before::Provider {
        return provider(place);
    }
    let mut kinds = vec![
        Kind::Tap(LoseRequest, 1),
        Kind::Tap(LoseRequest, ATTEMPTS),
        Kind::Tap(LoseReply, ATTEMPTS),
        Kind::Tap(ServerError, ATTEMPTS),
        Kind::Tap(Throttle, 1),
        Kind::Tap(Throttle, ATTEMPTS),
        Kind::Tap(Delay(LATE), 1),
    ];
    if !place.writes() {
        kinds.push(Kind::Tap(HangBefore, 1));
        return kinds;
    }
    kinds.extend([
        Kind::Tap(LoseReply, 1),
        Kind::Tap(HangAfter, 1),
        Kind::Tap(HangAfter, ATTEMPTS),
        Kind::Tap(HangBefore, ATTEMPTS),
        Kind::Tap(Fault::TransactionConflict(0), ROUNDS),
        Kind::Again,
    ]);
    if place.operation == "TransactWriteItems" {
        kinds.extend([
            Kind::Tap(Fault::TransactionInProgress, 1),
            Kind::Tap(Fault::TransactionInProgress, ATTEMPTS),
            Kind::AtWork,
        ]);
    }
    kinds.extend((0..place.items.max(1)).map(|step| Kind::Tap(Fault::TransactionConflict(step), 1)));
    if place.by == tests::worker::WORKER {
        kinds.push(Kind::Overtaken);
    }
    kinds
}

fn provider(place: &Place) -> Vec<Kind> {
    let mut kinds = vec![Kind::Tap(Fault::LoseRequest, 1), Kind::Tap(Fault::LoseReply, 1)];
    if place.operation == CREATE {
        kinds.extend(
            [
                Behavior::Decline,
                Behavior::Pending { lookups: 0 },
                Behavior::PendingThenFailed { lookups: 0 },
                Behavior::ErrorBefore,
                Behavior::ErrorAfter,
                Behavior::Unavailable,
                Behavior::InFlight,
                Behavior::Unauthorized,
                Behavior::TooManyRequests,
                Behavior::DropBefore,
                Behavior::DropAfter,
                Behavior::HangBefore,
                Behavior::HangAfter,
            ]
            .map(Kind::Create),
        );
        kinds.extend([Kind::Overtaken, Kind::Outlived]);
    }
    if place.operation == LOOKUP {
        kinds.extend(
            [
                LookupBehavior::Lag(Duration::from_secs(3_600)),
                LookupBehavior::Hide,
                LookupBehavior::Error,
                LookupBehavior::Unauthorized,
                LookupBehavior::NotFound,
                LookupBehavior::TooManyRequests,
                LookupBehavior::Hang,
                LookupBehavior::Drop,
                LookupBehavior::OtherAmount,
                LookupBehavior::OtherCurrency,
                LookupBehavior::OtherPayment,
                LookupBehavior::Twice,
                LookupBehavior::Endless,
                LookupBehavior::Loop,
            ]
            .map(Kind::Look),
        );
    }
    kinds
}

/// One of each that looks different to whom it happens, and takes no time: what pairs are made of.
pub(crate) fn different(place: &Place) -> Vec<Kind> {
    if place.before == Before::Database {
        let mut kinds = vec![Kind::Tap(Fault::LoseRequest, ATTEMPTS)];
        if place.writes() {
            kinds.push(Kind::Tap(Fault::LoseReply, 1));
            kinds.push(Kind::Tap(Fault::LoseReply, ATTEMPTS));
            kinds.push(Kind::Tap(Fault::TransactionConflict(0), 1));
        }
        return kinds;
    }
    if place.operation == CREATE {
        return [
            Behavior::Decline,
            Behavior::Pending { lookups: 0 },
            Behavior::ErrorBefore,
            Behavior::ErrorAfter,
            Behavior::TooManyRequests,
            Behavior::DropBefore,
            Behavior::DropAfter,
        ]
        .map(Kind::Create)
        .to_vec();
    }
    [LookupBehavior::Hide, LookupBehavior::Error, LookupBehavior::OtherAmount].map(Kind::Look).to_vec()
}

/// Both ways in which a process can be killed at this place.
pub(crate) fn kills(_: &Place) -> Vec<Kind> {
    vec![Kind::Kill(Fault::HangBefore), Kind::Kill(Fault::HangAfter)]
}

/// That there is no connection to the provider, where a step makes its only one.
pub(crate) fn refusals(place: &Place) -> Vec<Kind> {
    if place.before == Before::Provider && place.nth == 0 { vec![Kind::Refused] } else { Vec::new() }
}
