//! What must hold of a refund after whatever has happened to it, once nothing is left to do.

use countersign::operation::{self, State};
use serde_json::{Value, json};
use tests::app::code;
use tests::worker::target;

use crate::report;
use crate::run::{AMOUNT, PAID, Run};
use crate::wire;

impl Run<'_> {
    /// Holds the refund against all that was promised.
    pub(crate) async fn check(&self) {
        let ended = self.books().await;
        // Once more from everybody: what has ended stays so.
        self.dispatch().await;
        self.reconcile().await;
        let last = self.submit().await;
        assert_eq!(self.books().await, ended, "what had ended went on");
        if code(&last) == "ok" {
            assert_eq!((&last["state"], &last["replayed"]), (&json!(ended), &json!(true)));
        }
        self.receipts();
        self.tenants();
        self.idle().await;
        let key = operation::key(&target(self.operation.as_str()).tenant, &self.operation);
        wire::check(&self.passed(), &self.closed.borrow(), key.pk());
        report::add("runs whose invariants were checked");
        report::add(&format!("ended {ended}"));
    }

    /// The books: the order's balances, the provider's and the operation's state agree.
    async fn books(&self) -> State {
        let operation = self.app.find(&self.operation).await.unwrap();
        let state = operation.state;
        assert!(state.is_final() && !operation.conflict, "{operation:?}");
        let (effects, moved) = (self.app.effects(&self.order), self.app.moved(&self.order));
        assert!(effects <= 1, "{effects} effects of one intent");
        let expected = match state {
            State::Succeeded => (PAID - AMOUNT, 0, AMOUNT),
            State::Returned | State::Failed | State::Cancelled | State::Expired => (PAID, 0, 0),
            State::Queued | State::Sending | State::Settling | State::Unknown | State::NeedsOperator => {
                panic!("{state} is not final")
            }
        };
        assert_eq!(self.app.balances(&self.order).await, expected, "{state}");
        assert_eq!(moved, expected.2, "{state}, and the provider has moved {moved}");
        if matches!(state, State::Cancelled | State::Expired) {
            assert_eq!((effects, operation.attempts), (0, 0), "{state}");
        }
        state
    }

    /// Every receipt of the one key is the same, but for what moves, and one of them is the first.
    fn receipts(&self) {
        let answers = self.answers.borrow();
        let receipts: Vec<String> = answers
            .iter()
            .filter(|(tool, answer)| *tool == "submit_refund" && code(answer) == "ok")
            .map(|(_, answer)| {
                let mut receipt = answer.clone();
                for moving in ["state", "next_step", "replayed"] {
                    receipt.as_object_mut().unwrap().remove(moving);
                }
                receipt.to_string()
            })
            .collect();
        assert!(!receipts.is_empty(), "{answers:?}");
        assert!(receipts.iter().all(|receipt| *receipt == receipts[0]), "{receipts:?}");
        let fresh = |(tool, answer): &&(&str, Value)| *tool == "submit_refund" && answer["replayed"] == false;
        let fresh = answers.iter().filter(fresh).count();
        // Who was told that a repeat had submitted it had asked before.
        let unanswered = self.unanswered.borrow().contains(&"submit_refund");
        assert!(fresh == 1 || fresh == 0 && unanswered, "{fresh} answers are the first: {answers:?}");
    }

    /// Nothing that the agent was told is of another tenant.
    fn tenants(&self) {
        for (tool, answer) in &*self.answers.borrow() {
            assert!(!answer.to_string().contains("globex"), "{tool}: {answer}");
            if code(answer) != "ok" {
                let expected = ["temporarily_unavailable", "deadline_too_close", "too_late_to_cancel", "not_found"];
                assert!(expected.contains(&code(answer)), "{tool}: {answer}");
            }
        }
    }
}
