//! The phases: each kind of call, and what passes the taps while it is made.

use std::future::Future;
use std::time::Duration;

use countersign::bounded::Currency;
use countersign::consent::Verdict;
use countersign::operation::State;
use local::provider::Behavior;
use local::tap::{Fault, Rule, Seen};
use refunds::Order;
use serde_json::{Value, json};
use tests::App;
use tests::accounts::past;
use tests::app::{code, key, prepare, submit};
use tests::worker::WORKER;

use crate::row::Row;

/// How much every order was paid.
const PAID: i64 = 20_000;

struct Meter<'a> {
    app: &'a App,
    rows: Vec<Row>,
}

/// Measures all of them, one after the other.
pub(crate) async fn all(app: &App) -> Vec<Row> {
    let mut meter = Meter { app, rows: Vec::new() };
    meter.get_order_summary().await;
    meter.prepare_refund().await;
    meter.submit_refund().await;
    meter.submit_refund_at_once().await;
    meter.get_refund_status().await;
    meter.cancel_refund().await;
    meter.dispatch_refund().await;
    meter.reconcile_refunds().await;
    meter.rows
}

impl Meter<'_> {
    async fn order(&self) -> Order {
        self.app.order("acme", Currency::Eur, PAID).await
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.app.direct("acme-agent").call(tool, arguments).await
    }

    /// What this function sends while something is done. What a new process sends to warm up is not counted.
    async fn seen<T>(&self, function: &str, done: impl Future<Output = T>) -> (T, Vec<Seen>) {
        let taps = self.app.gateway.taps().unwrap();
        taps.database.forget();
        taps.provider.forget();
        let done = done.await;
        let warming =
            |seen: &Seen| seen.operation == "GetItem" && String::from_utf8_lossy(&seen.body).contains("warm#");
        let mut seen = taps.database.seen();
        seen.retain(|seen| seen.by == function && !warming(seen));
        seen.extend(taps.provider.seen());
        (done, seen)
    }

    /// Measures a call that is answered with this code.
    async fn phase(&mut self, tool: &str, phase: &str, arguments: Value, expected: &str) -> Value {
        let (answer, seen) = self.seen(tool, self.call(tool, arguments)).await;
        assert_eq!(code(&answer), expected, "{tool}, {phase}: {answer}");
        self.rows.push(Row::new(tool, phase, &seen));
        answer
    }

    async fn get_order_summary(&mut self) {
        const TOOL: &str = "get_order_summary";
        let order = self.order().await;
        self.phase(TOOL, "found", json!({ "order_id": order.id }), "ok").await;
        self.phase(TOOL, "not found", json!({ "order_id": "ord_NOWHERE" }), "not_found").await;
        self.phase(TOOL, "refused input", json!({ "order_id": "NOWHERE" }), "invalid_input").await;
    }

    async fn prepare_refund(&mut self) {
        const TOOL: &str = "prepare_refund";
        let order = self.order().await;
        self.phase(TOOL, "first", prepare(&order, 1_000), "ok").await;
        let again = self.phase(TOOL, "identical", prepare(&order, 1_000), "ok").await;
        assert_eq!(again["reused"], true);
        self.app.submitted(&order, 2_000).await;
        let mut other_reason = prepare(&order, 2_000);
        other_reason["reason_code"] = json!("late");
        let similar = self.phase(TOOL, "similar refund", other_reason, "ok").await;
        assert!(similar["similar_operation_id"].is_string(), "{similar}");
        let similar = self.phase(TOOL, "identical after it was submitted", prepare(&order, 2_000), "ok").await;
        assert!(similar["similar_operation_id"].is_string() && similar["reused"] == false, "{similar}");
        let mut absent = prepare(&order, 1_000);
        absent["order_id"] = json!("ord_NOWHERE");
        self.phase(TOOL, "not found", absent, "not_found").await;
        self.phase(TOOL, "too much", prepare(&order, PAID), "exceeds_refundable").await;
        self.phase(TOOL, "refused input", prepare(&order, 0), "invalid_input").await;
    }

    async fn submit_refund(&mut self) {
        const TOOL: &str = "submit_refund";
        let (order, used) = (self.order().await, key());
        let proposal = self.app.approved(&order, 1_000).await;
        self.phase(TOOL, "first", submit(&proposal, &used), "ok").await;
        let again = self.phase(TOOL, "duplicate", submit(&proposal, &used), "ok").await;
        assert_eq!(again["replayed"], true);
        self.phase(TOOL, "already submitted", submit(&proposal, &key()), "proposal_already_submitted").await;
        let other = self.app.approved(&order, 2_000).await;
        self.phase(TOOL, "key of another", submit(&other, &used), "idempotency_key_reused").await;
        let undecided = self.app.prepared(&order, 3_000).await;
        self.phase(TOOL, "not approved", submit(&undecided, &key()), "approval_required").await;
        let absent = format!("prop_{}", "a".repeat(26));
        self.phase(TOOL, "not found", submit(&absent, &key()), "not_found").await;
        self.phase(TOOL, "refused input", submit(&other, "short"), "invalid_input").await;
        self.submit_refund_alike().await;
    }

    /// Measures a proposal that was approved before another of the same amount was submitted, by what became of that.
    async fn submit_refund_alike(&mut self) {
        const TOOL: &str = "submit_refund";
        for (phase, cancelled, expected) in
            [("alike submitted since", false, "proposal_stale"), ("alike submitted since and cancelled", true, "ok")]
        {
            let order = self.order().await;
            let [mut first, mut second] = [prepare(&order, 1_000), prepare(&order, 1_000)];
            first["reason_code"] = json!("damaged");
            second["reason_code"] = json!("late");
            let mut proposals = Vec::new();
            for arguments in [first, second] {
                let prepared = self.call("prepare_refund", arguments).await;
                let proposal = prepared["proposal_id"].as_str().unwrap().to_owned();
                self.app.decide("acme-approver", &proposal, Verdict::Approval).await.unwrap();
                proposals.push(proposal);
            }
            let submitted = self.call(TOOL, submit(&proposals[0], &key())).await;
            if cancelled {
                let arguments = json!({ "operation_id": submitted["operation_id"] });
                assert_eq!(code(&self.call("cancel_refund", arguments).await), "ok");
            }
            self.phase(TOOL, phase, submit(&proposals[1], &key()), expected).await;
        }
    }

    async fn submit_refund_at_once(&mut self) {
        let order = self.order().await;
        self.race(&order, "two keys at once, both", [&key(), &key()], "proposal_already_submitted").await;
        let one = key();
        self.race(&order, "one key twice at once, both", [&one, &one], "ok").await;
    }

    /// Measures two submissions of one proposal of which the loser had read what the winner has not written yet: its
    /// write is held up. Where the other was too slow, there was no race, and there is another one.
    async fn race(&mut self, order: &Order, phase: &str, [one, other]: [&str; 2], loser: &str) {
        const TOOL: &str = "submit_refund";
        for round in 0..10 {
            let proposal = self.app.approved(order, 100 + round).await;
            let keys = [one, other].map(|key| format!("{key}-{round}"));
            let late = Rule::next(TOOL, "TransactWriteItems", Fault::Delay(Duration::from_millis(500)));
            self.app.gateway.taps().unwrap().database.inject(late);
            let both = async {
                let [one, other] = keys.each_ref().map(|key| self.call(TOOL, submit(&proposal, key)));
                tokio::join!(one, other)
            };
            let ((one, other), seen) = self.seen(TOOL, both).await;
            self.app.gateway.taps().unwrap().database.heal();
            let mut codes = [code(&one), code(&other)];
            codes.sort_unstable();
            assert_eq!(codes, ["ok", loser], "{phase}: {one} {other}");
            if seen.iter().filter(|seen| seen.operation == "TransactWriteItems").count() > 1 {
                self.rows.push(Row::new(TOOL, phase, &seen));
                return;
            }
        }
        panic!("{phase}: no race came about");
    }

    async fn get_refund_status(&mut self) {
        const TOOL: &str = "get_refund_status";
        let refund = self.app.submitted(&self.order().await, 1_000).await;
        self.phase(TOOL, "found", json!({ "operation_id": refund.operation }), "ok").await;
        let absent = format!("op_{}", "a".repeat(26));
        self.phase(TOOL, "not found", json!({ "operation_id": absent }), "not_found").await;
        self.phase(TOOL, "refused input", json!({ "operation_id": "op_1" }), "invalid_input").await;
    }

    async fn cancel_refund(&mut self) {
        const TOOL: &str = "cancel_refund";
        let refund = self.app.submitted(&self.order().await, 1_000).await;
        let arguments = json!({ "operation_id": refund.operation });
        self.phase(TOOL, "first", arguments.clone(), "ok").await;
        self.phase(TOOL, "again", arguments, "ok").await;
        let sent = self.app.submitted(&self.order().await, 1_000).await;
        self.app.deliver(&sent.operation).await;
        self.phase(TOOL, "too late", json!({ "operation_id": sent.operation }), "too_late_to_cancel").await;
        let absent = format!("op_{}", "a".repeat(26));
        self.phase(TOOL, "not found", json!({ "operation_id": absent }), "not_found").await;
        self.phase(TOOL, "refused input", json!({ "operation_id": "op_1" }), "invalid_input").await;
    }

    async fn reconcile_refunds(&mut self) {
        const FUNCTION: &str = "reconcile_refunds";
        let ((), seen) = self.seen(FUNCTION, self.app.gateway.sweep()).await;
        self.rows.push(Row::new(FUNCTION, "sweep with nothing due", &seen));
        for (phase, behavior) in [("found", Behavior::DropAfter), ("absent", Behavior::DropBefore)] {
            let order = self.order().await;
            self.app.gateway.provider().script(order.payment.as_str(), behavior);
            let refund = self.app.submitted(&order, 1_000).await;
            assert_eq!(self.app.deliver(&refund.operation).await, State::Unknown);
            self.app.edit(&refund.operation, |step| step.set("lease_until", past())).await;
            let event = json!({ "tenant": "acme", "order_id": order.id }).to_string();
            let (_, mut seen) = self.seen(FUNCTION, self.app.raw(FUNCTION, event, None)).await;
            seen.retain(|seen| seen.operation != "Query");
            self.rows.push(Row::new(FUNCTION, phase, &seen));
        }
    }

    async fn dispatch_refund(&mut self) {
        let refund = self.app.submitted(&self.order().await, 1_000).await;
        for phase in ["delivery", "delivery again"] {
            let (answer, seen) = self.seen(WORKER, self.app.try_deliver(&refund.operation)).await;
            assert!(matches!(answer, local::lambda::Invoked::Answered(_)), "{phase}: {answer:?}");
            assert_eq!(self.app.operation(&refund.operation).await.state, State::Succeeded);
            self.rows.push(Row::new(WORKER, phase, &seen));
        }
        // One sweep to leave nothing that is due, and one that finds nothing.
        self.app.gateway.sweep().await;
        let ((), seen) = self.seen(WORKER, self.app.gateway.sweep()).await;
        self.rows.push(Row::new(WORKER, "sweep with nothing due", &seen));
    }
}
