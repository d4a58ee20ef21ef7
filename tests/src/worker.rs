//! The worker called by hand, and operations as the ledger holds them.

use std::time::Duration;

use countersign::bounded::{OperationId, Tenant};
use countersign::change::{Change, Step};
use countersign::delivery::Target;
use countersign::ledger::Ledger as _;
use countersign::operation::{self, Operation, State};
use local::lambda::Invoked;
use refunds::{Order, Refund};
use serde_json::{Value, json};

use crate::App;
use crate::accounts::past;
use crate::app::{code, key, submit};

/// The worker's function.
pub const WORKER: &str = "dispatch_refund";

/// A refund that was accepted.
pub struct Submitted {
    /// Its proposal: the provider's idempotency key.
    pub proposal: String,
    /// Its operation.
    pub operation: String,
}

/// An operation of `acme`.
pub fn target(operation: &str) -> Target {
    Target { tenant: Tenant::parse("acme").unwrap(), operation: OperationId::parse(operation).unwrap() }
}

/// The batch of one record by which the ledger's stream tells that an operation was written.
pub fn stream_event(operation: &str) -> Value {
    let Target { tenant, operation } = target(operation);
    json!({ "Records": [{
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_796_083_200.0,
            "Keys": { "pk": { "S": operation::key(&tenant, &operation).pk() } },
            "SequenceNumber": "000000000000000000001",
            "SizeBytes": 26,
            "StreamViewType": "NEW_IMAGE",
        },
        "eventID": "1",
        "eventName": "INSERT",
        "eventSource": "aws:dynamodb",
        "eventVersion": "1.1",
    }] })
}

impl App {
    /// Prepares, approves and submits a refund.
    pub async fn submitted(&self, order: &Order, amount: i64) -> Submitted {
        let proposal = self.approved(order, amount).await;
        self.submit(proposal).await
    }

    /// Submits what was approved.
    pub async fn submit(&self, proposal: String) -> Submitted {
        let answer = self.direct("acme-agent").call("submit_refund", submit(&proposal, &key())).await;
        assert_eq!(code(&answer), "ok", "{answer}");
        Submitted { proposal, operation: answer["operation_id"].as_str().unwrap().to_owned() }
    }

    /// The operation as it is now, if it is there.
    pub async fn find(&self, operation: &OperationId) -> Option<Operation<Refund>> {
        let key = operation::key(&Tenant::parse("acme").unwrap(), operation);
        let seen = self.gateway.ledger().load(std::slice::from_ref(&key)).await.unwrap();
        seen.item(&key).map(|item| Operation::read(item).unwrap().unwrap())
    }

    /// The operation as it is now.
    pub async fn operation(&self, operation: &str) -> Operation<Refund> {
        self.find(&OperationId::parse(operation).unwrap()).await.unwrap()
    }

    /// Waits until an operation is as `reached` says.
    pub async fn wait(&self, operation: &str, reached: impl Fn(&Operation<Refund>) -> bool) -> Operation<Refund> {
        for _ in 0..6_000 {
            let now = self.operation(operation).await;
            if reached(&now) {
                return now;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{operation} stays {:?}", self.operation(operation).await);
    }

    /// Waits until an operation has come to its end.
    pub async fn settled(&self, operation: &str) -> Operation<Refund> {
        self.wait(operation, |operation| operation.state.is_final()).await
    }

    /// Tells the worker of an operation as the stream does, and gives the state that it left it in.
    pub async fn deliver(&self, operation: &str) -> State {
        let answer = self.raw(WORKER, stream_event(operation).to_string(), None).await;
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["batchItemFailures"], json!([]), "{answer}");
        self.operation(operation).await.state
    }

    /// Tells the worker of an operation, and gives what became of the call.
    pub async fn try_deliver(&self, operation: &str) -> Invoked {
        self.gateway.lambda().invoke(WORKER, stream_event(operation).to_string().into(), None).await
    }

    /// Edits an operation as an administrator would.
    pub async fn edit(&self, operation: &str, edit: impl FnOnce(Step) -> Step) {
        let Target { tenant, operation } = target(operation);
        self.commit(Change(vec![edit(Step::update(operation::key(&tenant, &operation)))])).await;
    }

    /// Makes an operation due now, and lets the worker's sweep and the stream look at it again and again. Nobody looks for
    /// evidence meanwhile.
    pub async fn insist(&self, operation: &str) {
        for _ in 0..3 {
            self.edit(operation, |step| step.set("due_at", past())).await;
            self.raw(WORKER, "{}", None).await;
            self.deliver(operation).await;
        }
    }
}
