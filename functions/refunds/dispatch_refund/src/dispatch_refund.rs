//! `dispatch_refund`: takes each accepted refund to the payment provider, from the ledger's stream or from a schedule.
//!
//! The stream tells of what has just been accepted, at least once; the schedule sweeps up what is due: resends, lapsed
//! leases, and what the stream lost. Either way an operation is only a hint to load it and see.

use std::time::Duration;

use aws_lambda_events::dynamodb::EventRecord;
use aws_lambda_events::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};
use countersign::clock::{Timestamp, wall_clock};
use countersign::deadline::Deadline;
use countersign::delivery::{Outcome, Target, attempt, deliver, sweep};
use countersign::failure::Failure;
use countersign::keys::KeySet;
use countersign::ledger::Dynamo;
use countersign::operation::Worker;
use futures::future::join_all;
use lambda_runtime::{Error, LambdaEvent};
use refunds::Refund;
use serde::Deserialize;
use serde_dynamo::AttributeValue;
use serde_json::Value;
use stripe::Stripe;

/// With less than this left, no delivery is begun: the provider may take ten seconds, and recording as long, and claiming
/// a few.
const LEAST: Duration = Duration::from_secs(30);
/// How long Lambda lets this function run, as its manifest says.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The worker.
pub(crate) struct DispatchRefund {
    /// Where operations lie.
    pub(crate) ledger: Dynamo,
    /// Who moves the money.
    pub(crate) provider: Stripe,
    /// Whose signatures count as a person's.
    pub(crate) consent_keys: KeySet,
}

/// A stream's batch, or with no records a schedule's tick.
#[derive(Debug, Deserialize)]
pub(crate) struct Trigger {
    #[serde(rename = "Records", default)]
    records: Option<Vec<Value>>,
}

impl DispatchRefund {
    /// Handles one event.
    pub(crate) async fn take(&self, event: LambdaEvent<Trigger>) -> Result<DynamoDbEventResponse, Error> {
        let deadline = Deadline::from_lambda(event.context.deadline, wall_clock(), TIMEOUT);
        match event.payload.records {
            Some(records) => Ok(self.batch(records, deadline).await),
            None => self.sweep(deadline).await.map(|()| DynamoDbEventResponse::default()).map_err(Into::into),
        }
    }

    /// Handles all records at once: they are independent, and none is to wait for another's provider. Lambda begins again
    /// with the first that could not be handled now, and those after it find their work done
    /// (<https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html>).
    async fn batch(&self, records: Vec<Value>, deadline: Deadline) -> DynamoDbEventResponse {
        let handled = join_all(records.into_iter().map(|record| self.record(record, deadline))).await;
        let mut response = DynamoDbEventResponse::default();
        if let Some(sequence) = handled.into_iter().find_map(Result::err) {
            let mut failed = DynamoDbBatchItemFailure::default();
            failed.item_identifier = sequence;
            response.batch_item_failures.push(failed);
        }
        response
    }

    /// Handles one record; its sequence number, where it has to come again.
    async fn record(&self, record: Value, deadline: Deadline) -> Result<(), Option<String>> {
        let sequence = sequence_number(&record);
        let Some(target) = target(record) else { return Ok(()) };
        if deadline.left() < LEAST {
            return Err(sequence);
        }
        attempt(Worker::Dispatch, &target, self.deliver(&target)).await.map_err(|_| sequence)
    }

    async fn sweep(&self, deadline: Deadline) -> Result<(), Failure> {
        sweep::<Refund, _>(&self.ledger, Worker::Dispatch, deadline, LEAST, async |target| self.deliver(&target).await)
            .await
    }

    async fn deliver(&self, target: &Target) -> Result<Outcome, Failure> {
        let Self { ledger, provider, consent_keys } = self;
        deliver::<Refund, _>(ledger, &Timestamp::now, provider, consent_keys, target).await
    }
}

/// Which operation a record is about; `None` for every other record, and for a removal.
fn target(record: Value) -> Option<Target> {
    let record: EventRecord = match serde_json::from_value(record) {
        Ok(record) => record,
        Err(error) => {
            tracing::error!(%error, "parked a stream record that cannot be read");
            return None;
        }
    };
    if record.event_name == "REMOVE" {
        return None;
    }
    let (_, pk) = record.change.keys.into_inner().into_iter().find(|(name, _)| name == "pk")?;
    if let AttributeValue::S(pk) = pk { Target::parse(&pk) } else { None }
}

fn sequence_number(record: &Value) -> Option<String> {
    record.pointer("/dynamodb/SequenceNumber").and_then(Value::as_str).map(str::to_owned)
}
