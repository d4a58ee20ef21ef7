//! Carries a table's stream to a function, as Lambda's event source mapping does.
//!
//! At least once and in order: each start begins with the oldest record, a failed record holds back those behind it.
//! <https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html>

mod batch;
mod reader;

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use dynoxide::Database as Engine;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::lambda::Invoked;
use batch::{Queue, Verdict};
use reader::Reader;

/// The shortest wait between two reads: what follows activity.
const BUSY: Duration = Duration::from_millis(2);

/// The longest wait that a slow read brings about.
const SLOW: Duration = Duration::from_millis(500);

/// What to carry, and how patiently.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The table whose stream to read.
    pub table: String,
    /// Carry only records whose key `pk` begins with this, as a mapping's filter criteria do; all when empty.
    pub key_prefix: String,
    /// The most records in one call.
    pub batch: usize,
    /// How often one record may fail before it is parked: skipped, with an error in the log.
    pub max_attempts: u32,
    /// The longest wait between two reads of a quiet stream.
    pub idle: Duration,
    /// The wait after a first failure; it doubles with each further one.
    pub retry_after: Duration,
    /// The longest wait after a failure.
    pub retry_ceiling: Duration,
}

impl Settings {
    /// Batches of 10, 20 attempts, 50 ms between reads of a quiet stream, retries after 50 ms to 5 s.
    #[must_use]
    pub fn new(table: impl Into<String>) -> Self {
        Self {
            table: table.into(),
            key_prefix: String::new(),
            batch: 10,
            max_attempts: 20,
            idle: Duration::from_millis(50),
            retry_after: Duration::from_millis(50),
            retry_ceiling: Duration::from_secs(5),
        }
    }
}

/// A stream being carried. It ends with [`StreamPoller::stop`] or when it is dropped.
#[derive(Debug)]
pub struct StreamPoller {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl StreamPoller {
    /// Starts to read from the oldest record. `deliver` gets each batch as a Lambda event and calls the function; its
    /// answer may name failed records in `batchItemFailures`.
    pub fn start<F, R>(engine: Engine, settings: Settings, deliver: F) -> Self
    where
        F: Fn(Bytes) -> R + Send + Sync + 'static,
        R: Future<Output = Invoked> + Send,
    {
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move { _ = stopped.run_until_cancelled(carry(engine, settings, deliver)).await });
        Self { stop, task }
    }

    /// Stops at once. A batch under way is given up here; its function runs on, and gets it again after the next start.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if let Err(error) = (&mut self.task).await {
            tracing::error!(%error, "a stream's poller had failed");
        }
    }
}

impl Drop for StreamPoller {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn carry<F, R>(engine: Engine, settings: Settings, deliver: F)
where
    F: Fn(Bytes) -> R,
    R: Future<Output = Invoked>,
{
    let mut reader = Reader::new(engine, settings.table.clone(), settings.key_prefix.clone());
    let mut queue = Queue::new(settings.batch);
    let mut pause = BUSY;
    loop {
        // One page at a time: what the function has not taken yet waits in the database.
        while queue.is_empty() {
            let started = Instant::now();
            let (next, page) = reader.read().await;
            reader = next;
            queue.extend(page.entries);
            if page.records > 0 {
                pause = BUSY;
            } else {
                // A long stream is slow to read, under the database's lock: leave most of the time to others.
                sleep(pause.max((started.elapsed() * 10).min(SLOW))).await;
                pause = (pause * 2).min(settings.idle);
            }
        }
        let verdict = Verdict::of(&deliver(queue.event()).await, &queue);
        let failures = queue.settle(verdict, settings.max_attempts);
        if failures > 0 {
            let doubled = settings.retry_after.saturating_mul(1 << (failures - 1).min(16));
            sleep(doubled.min(settings.retry_ceiling)).await;
        }
    }
}
