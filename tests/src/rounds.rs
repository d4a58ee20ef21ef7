//! Rounds of a race: many, a few of them at a time.

use std::future::Future;

use futures::StreamExt as _;

/// How many rounds run at once: enough to keep every process busy, few enough that a round's calls meet each other.
const AT_ONCE: usize = 8;

/// Runs a race so many times, each round on records of its own.
pub async fn rounds<R: Future<Output = ()>>(count: usize, round: impl Fn(usize) -> R) {
    futures::stream::iter(0..count).for_each_concurrent(AT_ONCE, round).await;
}
