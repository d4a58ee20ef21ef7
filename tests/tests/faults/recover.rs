//! Recovery: what a real system does by itself once nothing goes wrong any more, and what an operator does.

use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::delivery::{Resolution, Resolve};
use countersign::operation::State;
use local::provider::RefundStatus;
use refunds::Refund;

use crate::report;
use crate::run::Run;

/// How many times somebody comes to look: three resends, each proved absent by two lookups, and what went before.
const LOOKS: usize = 24;

impl Run<'_> {
    /// Goes on until nothing is left to do. A refund that is alone is found by the true sweeps; others, which a sweep would
    /// disturb in what they are at, are told of by the stream and by their order.
    pub(crate) async fn recover(&self) {
        for _ in 0..LOOKS {
            self.idle().await;
            let Some(now) = self.app.find(&self.operation).await else {
                report::add("recovery: the agent submitted again");
                self.submit().await;
                continue;
            };
            if now.conflict {
                report::add("recovery: an operator cleared a conflict");
                self.resolve().await;
                continue;
            }
            match now.state {
                State::Queued | State::Sending => {
                    self.let_time_pass().await;
                    report::add("recovery: the worker took what was due");
                    if self.alone { self.app.gateway.sweep().await } else { self.dispatch().await }
                }
                State::Unknown | State::Settling => {
                    self.let_time_pass().await;
                    report::add("recovery: the provider was asked");
                    if self.alone { self.app.gateway.sweep().await } else { self.reconcile().await }
                }
                State::NeedsOperator => {
                    report::add("recovery: an operator found out");
                    self.resolve().await;
                }
                State::Succeeded | State::Returned | State::Failed | State::Cancelled | State::Expired => return,
            }
        }
        panic!("it does not end: {:?}", self.app.find(&self.operation).await);
    }

    /// An operator says what the provider's books say, once they are final.
    async fn resolve(&self) {
        let provider = self.app.gateway.provider();
        provider.settle(self.order.payment.as_str(), RefundStatus::Succeeded).unwrap();
        let truth = if self.app.moved(&self.order) > 0 { Resolution::Succeeded } else { Resolution::Failed };
        let by = self.app.caller("acme-operator");
        let resolve = Resolve::<Refund>::new(&by, self.operation.clone(), truth, "the provider's books").unwrap();
        execute(self.app.gateway.ledger(), &Timestamp::now, &resolve).await.unwrap();
    }
}
