//! Runs a function every so often, with the event that EventBridge sends.

use countersign::clock::wall_clock;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::lambda::{ACCOUNT, Invoked, REGION};

type Deliver = Arc<dyn Fn(Bytes) -> Pin<Box<dyn Future<Output = Invoked> + Send>> + Send + Sync>;

/// A schedule that runs until it is dropped.
pub struct Schedule {
    rule: String,
    deliver: Deliver,
    _stop_on_drop: DropGuard,
}

impl Schedule {
    /// Starts; the first run is one period from now. A run that takes longer than the period delays the next one.
    ///
    /// A failed run is logged and not repeated: the next one comes anyway. (EventBridge would repeat it twice.)
    pub fn start<F, R>(rule: impl Into<String>, every: Duration, deliver: F) -> Self
    where
        F: Fn(Bytes) -> R + Send + Sync + 'static,
        R: Future<Output = Invoked> + Send + 'static,
    {
        let (rule, stop) = (rule.into(), CancellationToken::new());
        let deliver: Deliver = Arc::new(move |event| Box::pin(deliver(event)));
        let run = repeat(rule.clone(), every, Arc::clone(&deliver));
        let stopped = stop.clone();
        tokio::spawn(async move { stopped.run_until_cancelled(run).await });
        Self { rule, deliver, _stop_on_drop: stop.drop_guard() }
    }

    /// Runs the function now, beside the schedule, and returns what became of the call.
    pub async fn fire(&self) -> Invoked {
        (self.deliver)(event(&self.rule, wall_clock())).await
    }
}

async fn repeat(rule: String, every: Duration, deliver: Deliver) {
    let mut ticks = interval_at(Instant::now() + every, every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let invoked = deliver(event(&rule, wall_clock())).await;
        if !matches!(invoked, Invoked::Answered(_)) {
            tracing::error!(rule, ?invoked, "a scheduled run failed");
        }
    }
}

/// <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-run-lambda-schedule.html>
fn event(rule: &str, now: SystemTime) -> Bytes {
    let now = OffsetDateTime::from(now);
    let time = now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default();
    let nanos = now.unix_timestamp_nanos();
    let id = format!("{:08x}-{:04x}-7000-8000-{:012x}", nanos >> 64, (nanos >> 48) & 0xffff, nanos & 0xffff_ffff_ffff);
    let event = json!({
        "version": "0",
        "id": id,
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": ACCOUNT,
        "time": time,
        "region": REGION,
        "resources": [format!("arn:aws:events:{REGION}:{ACCOUNT}:rule/{rule}")],
        "detail": {},
    });
    event.to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use tokio::sync::mpsc;

    fn recorded(every: Duration) -> (Schedule, mpsc::UnboundedReceiver<Value>) {
        let (events, received) = mpsc::unbounded_channel();
        let schedule = Schedule::start("sweep", every, move |event| {
            events.send(serde_json::from_slice(&event).unwrap()).unwrap();
            async { Invoked::Answered(Bytes::from_static(b"null")) }
        });
        (schedule, received)
    }

    #[tokio::test]
    async fn a_schedule_runs_every_period_and_stops_when_dropped() {
        let (started, period) = (Instant::now(), Duration::from_millis(10));
        let (schedule, mut received) = recorded(period);
        received.recv().await.unwrap();
        received.recv().await.unwrap();
        assert!(started.elapsed() >= 2 * period);
        drop(schedule);
        while received.recv().await.is_some() {}
    }

    #[tokio::test]
    async fn firing_runs_at_once_with_a_scheduled_event() {
        let (schedule, mut received) = recorded(Duration::from_secs(3600));
        assert_eq!(schedule.fire().await, Invoked::Answered(Bytes::from_static(b"null")));
        let event = received.recv().await.unwrap();
        assert_eq!(event["source"], "aws.events");
        assert_eq!(event["detail-type"], "Scheduled Event");
        assert_eq!(event["resources"][0], "arn:aws:events:us-east-1:000000000000:rule/sweep");
        assert!(event["time"].as_str().unwrap().ends_with('Z'), "{event}");
    }
}
