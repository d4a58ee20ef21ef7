//! People: who decides at the approval page, and who looks after what needs an operator.

use countersign::bounded::Currency;
use countersign::consent::Verdict;
use local::gateway::PAGE;
use local::issuer::DEFAULT_TTL;
use local::keys::OPERATIONS_AUDIENCE;
use local::provider::{Behavior, LookupBehavior};
use local::visitor::{Page, Visitor};
use serde_json::{Value, json};
use tests::app::{code, key, submit};
use tests::people::minutes_ago;

use super::{Meter, PAID};
use crate::row::Row;

impl Meter<'_> {
    /// In a tenant in which nothing else is measured.
    pub(super) async fn approval_page(&mut self) {
        let (app, by) = (self.app, self.app.caller("globex-agent"));
        let page = app.gateway.http_url(PAGE).unwrap();
        let visitor = Visitor::new().unwrap();
        visitor.sign_in(&format!("{page}/"), "globex-approver").await.unwrap();
        let order = app.order("globex", Currency::Eur, PAID).await;
        self.looked(&visitor, "empty list", &format!("{page}/")).await;
        let first = app.prepared_at(&by, &order, 100, minutes_ago(0)).await.id;
        let address = format!("{page}/proposals/{first}");
        let shown = self.looked(&visitor, "undecided proposal", &address).await;
        let shown = self.pressed(&visitor, "approving and looking again", &shown, "/approve").await;
        self.looked(&visitor, "approved proposal", &address).await;
        self.pressed(&visitor, "taking back and looking again", &shown, "/revoke").await;
        // More of one order than are looked up, which lapse sooner than the first.
        let mut others = Vec::new();
        for amount in 101..=160 {
            others.push(app.prepared_at(&by, &order, amount, minutes_ago(1)).await.id);
        }
        self.looked(&visitor, "full page of the list", &format!("{page}/")).await;
        self.looked(&visitor, "proposal of an order with sixty others", &address).await;
        for other in &others {
            app.decide("globex-approver", other.as_str(), Verdict::Approval).await.unwrap();
        }
        self.looked(&visitor, "full page of the list, all approved", &format!("{page}/")).await;
        self.looked(&visitor, "proposal of an order with sixty others, all approved", &address).await;
        self.approval_page_alike(&visitor, page).await;
    }

    /// Measures what was approved before another of the same amount was submitted.
    async fn approval_page_alike(&mut self, visitor: &Visitor, page: &str) {
        let (app, order) = (self.app, self.app.order("globex", Currency::Eur, PAID).await);
        let mut twins = Vec::new();
        for by in [app.requester("globex"), app.requester("globex")] {
            let proposal = app.prepared_at(&by, &order, 1_000, minutes_ago(0)).await.id;
            app.decide("globex-approver", proposal.as_str(), Verdict::Approval).await.unwrap();
            twins.push((by, proposal));
        }
        let [(by, first), (_, second)] = &twins[..] else { panic!("two are alike") };
        let submitted = app.direct_as(by.clone()).call("submit_refund", submit(first.as_str(), &key())).await;
        assert_eq!(code(&submitted), "ok", "{submitted}");
        self.looked(visitor, "approved, alike submitted since", &format!("{page}/proposals/{second}")).await;
    }

    async fn looked(&mut self, visitor: &Visitor, phase: &str, address: &str) -> Page {
        let (page, seen) = self.seen(PAGE, visitor.open(address)).await;
        self.rows.push(Row::new(PAGE, phase, &seen));
        page.unwrap()
    }

    async fn pressed(&mut self, visitor: &Visitor, phase: &str, shown: &Page, form: &str) -> Page {
        let (page, seen) = self.seen(PAGE, visitor.submit(shown, form, &[])).await;
        self.rows.push(Row::new(PAGE, phase, &seen));
        page.unwrap()
    }

    /// What it costs that something waits for a person, and that one looks and decides.
    pub(super) async fn resolve_refund(&mut self) {
        const LOOKER: &str = "reconcile_refunds";
        let mut waiting = Vec::new();
        for (phase, behavior) in [("needs an operator", Behavior::DropAfter), ("in conflict", Behavior::Succeed)] {
            let order = self.order().await;
            self.app.gateway.provider().script(order.payment.as_str(), behavior);
            let refund = self.app.submitted(&order, 1_000).await;
            self.app.deliver(&refund.operation).await;
            self.app.gateway.provider().lookup_always(order.payment.as_str(), LookupBehavior::Twice);
            let event = json!({ "tenant": "acme", "order_id": order.id }).to_string();
            let (_, mut seen) = self.seen(LOOKER, self.app.raw(LOOKER, event, None)).await;
            seen.retain(|seen| seen.operation != "Query");
            assert!(self.app.operation(&refund.operation).await.waits_for_a_person());
            self.rows.push(Row::new(LOOKER, phase, &seen));
            waiting.push(refund.operation);
        }
        let [needs, contradicted] = &waiting[..] else { panic!("two wait") };
        self.ask("list of two", "", None, 200).await;
        self.ask("one", &format!("operation_id={}", needs), None, 200).await;
        self.ask("not found", &format!("operation_id=op_{}", "a".repeat(26)), None, 404).await;
        let word = |operation: &str| json!({ "operation_id": operation, "outcome": "succeeded", "evidence": "the dashboard shows it" });
        self.ask("ended", "", Some(word(needs)), 200).await;
        self.ask("conflict cleared", "", Some(word(contradicted)), 200).await;
        self.ask("waits for nobody", "", Some(word(needs)), 409).await;
        self.ask("list of none", "", None, 200).await;
        self.ask("refused input", "operation_id=op_1", None, 400).await;
        let mut bad = word(needs);
        bad["evidence"] = json!("");
        self.ask("refused word", "", Some(bad), 400).await;
    }

    /// Measures what an operator asks or says.
    async fn ask(&mut self, phase: &str, query: &str, word: Option<Value>, expected: u16) {
        const FUNCTION: &str = "resolve_refund";
        let issuer = self.app.gateway.keys().issuer(local::gateway::ISSUER).unwrap();
        let (persona, now) = (self.app.persona("acme-operator"), countersign::clock::wall_clock());
        let token = issuer.token_for(OPERATIONS_AUDIENCE, persona, now, DEFAULT_TTL).unwrap();
        let url = format!("{}/?{query}", self.app.gateway.http_url(FUNCTION).unwrap());
        let client = reqwest::Client::new();
        let request = match word {
            Some(word) => client.post(url).body(word.to_string()),
            None => client.get(url),
        };
        let (answer, seen) = self.seen(FUNCTION, request.bearer_auth(token).send()).await;
        assert_eq!(answer.unwrap().status(), expected, "{phase}");
        self.rows.push(Row::new(FUNCTION, phase, &seen));
    }
}
