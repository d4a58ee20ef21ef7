//! A case: who asks, who decides, and about which order.

use countersign::bounded::Currency;
use countersign::caller::Caller;
use countersign::consent::{Approver, Verdict};
use refunds::Order;
use serde_json::Value;
use tests::App;
use tests::app::{key, prepare, submit};

/// A requester, an approver and an order that nobody else touches.
pub(crate) struct Case<'a> {
    pub(crate) app: &'a App,
    pub(crate) by: Caller,
    pub(crate) approver: Approver,
    pub(crate) order: Order,
}

impl<'a> Case<'a> {
    pub(crate) async fn new(app: &'a App) -> Self {
        let order = app.order("acme", Currency::Eur, 20_000).await;
        Self { app, by: app.requester("acme"), approver: app.approver("acme", 50_000).await, order }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.app.direct_as(self.by.clone()).call(tool, arguments).await
    }

    pub(crate) async fn prepared(&self, amount: i64) -> String {
        let answer = self.call("prepare_refund", prepare(&self.order, amount)).await;
        answer["proposal_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub(crate) async fn approved(&self, amount: i64) -> String {
        let proposal = self.prepared(amount).await;
        self.decide(&proposal, Verdict::Approval).await;
        proposal
    }

    pub(crate) async fn decide(&self, proposal: &str, verdict: Verdict) {
        self.app.decide_as(&self.approver, proposal, verdict).await.unwrap();
    }

    /// A refund that has come to its end, so that nothing about it moves any more.
    pub(crate) async fn succeeded(&self, proposal: &str, key: &str) -> String {
        let answer = self.call("submit_refund", submit(proposal, key)).await;
        let operation = answer["operation_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        self.app.until_as(&self.by, &operation, "succeeded").await;
        operation
    }

    /// The refusal of a call, which has touched nothing about the order or one of these proposals.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value, about: &[&str]) -> Value {
        let about: Vec<&str> = about.iter().copied().chain([self.order.id.as_str()]).collect();
        self.app.refused(&self.by, tool, arguments, &about).await
    }

    /// The refusal of a proposal's submission under a key of its own.
    pub(crate) async fn submission_refused(&self, proposal: &str) -> Value {
        self.refused("submit_refund", submit(proposal, &key()), &[proposal]).await
    }
}
