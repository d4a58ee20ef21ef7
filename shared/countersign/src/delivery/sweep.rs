//! Sweeping: what is due for one kind of worker, and what is done with an operation that cannot be handled.

use std::future::Future;
use std::time::Duration;

use futures::stream::{self, StreamExt as _};

use super::{Outcome, Target};
use crate::clock::Timestamp;
use crate::deadline::Deadline;
use crate::effect::Effect;
use crate::failure::{Code, Failure};
use crate::ledger::{Dynamo, Page};
use crate::operation::{State, Worker, due_shards};

/// How many due operations are handled at once.
const AT_ONCE: usize = 10;

/// Handles what is due for this kind of worker, shard by shard and page by page; none is begun with less than `least`
/// left. One that fails is left to the next sweep; the others are not to wait for it.
///
/// # Errors
/// When the index cannot be read.
pub async fn sweep<E: Effect, F: Future<Output = Result<Outcome, Failure>>>(
    ledger: &Dynamo,
    worker: Worker,
    deadline: Deadline,
    least: Duration,
    handle: impl Fn(Target) -> F,
) -> Result<(), Failure> {
    for shard in due_shards::<E>(worker, Timestamp::now()) {
        let mut page = Some(Page::default());
        while let Some(next) = page.filter(|_| deadline.left() >= least) {
            let (due, further) = ledger.due(&shard, Timestamp::now(), next).await?;
            let targets = stream::iter(due.iter().filter_map(|pk| Target::parse(pk)));
            let handle = async |target: Target| {
                if deadline.left() >= least {
                    let _ = attempt(worker, &target, handle(target.clone())).await;
                }
            };
            targets.for_each_concurrent(AT_ONCE, handle).await;
            page = further;
        }
    }
    Ok(())
}

/// Handles one operation and logs a line of how it went. What would fail the same way again is parked: it is reported,
/// and nothing waits for it.
///
/// # Errors
/// When it should be tried again.
pub async fn attempt(
    worker: Worker,
    target: &Target,
    handled: impl Future<Output = Result<Outcome, Failure>>,
) -> Result<(), Failure> {
    let (tenant, operation_id) = (target.tenant.as_str(), target.operation.as_str());
    match handled.await {
        Ok(Outcome { state, conflict }) => {
            let state_now = state.as_str();
            match (conflict, state) {
                (true, _) => {
                    tracing::error!(alarm = "conflict", %worker, tenant, operation_id, state = state_now, "delivery");
                }
                (false, State::NeedsOperator) => {
                    tracing::error!(alarm = "needs_operator", %worker, tenant, operation_id, state = state_now, "delivery");
                }
                (false, _) => tracing::info!(%worker, tenant, operation_id, state = state_now, "delivery"),
            }
            Ok(())
        }
        Err(failure) if failure.code() == Code::NOT_FOUND || failure.code() == Code::INTERNAL => {
            let (code, cause) = (failure.code().as_str(), failure.causes());
            tracing::error!(alarm = "parked", %worker, tenant, operation_id, code, cause, "parked");
            Ok(())
        }
        Err(failure) => {
            let (code, cause) = (failure.code().as_str(), failure.causes());
            tracing::warn!(%worker, tenant, operation_id, code, cause, "will be tried again");
            Err(failure)
        }
    }
}
