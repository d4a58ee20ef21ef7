//! The outlook: of what is approved, people are told what submitting it would be told.

use countersign::bounded::{Currency, Principal};
use countersign::consent::{Approver, Verdict};
use refunds::Order;
use serde_json::json;
use tests::app::{code, key, submit};
use tests::people::{authority, authority_key, minutes_ago};
use tests::{App, quiet, run, unique};

use crate::open::row;
use crate::person::{Person, offers, refusal};

const CANNOT: &str = "As things stand, it cannot be submitted.";
const LISTED: &str = "Approved, but cannot be submitted as things stand";
const ALIVE: [&str; 2] = ["It is not submitted yet; the approval lapses", "is left after this one"];

/// An order of EUR 90.00 in a tenant of its own, and somebody who approves.
struct Scene<'a> {
    app: &'a App,
    tenant: String,
    order: Order,
    approver: Approver,
}

impl<'a> Scene<'a> {
    async fn new(app: &'a App) -> Self {
        let tenant = format!("outlook-{}", unique());
        let order = app.order(&tenant, Currency::Eur, 9_000).await;
        let approver = app.approver(&tenant, 50_000).await;
        Self { app, tenant, order, approver }
    }

    fn person(&self) -> Person<'a> {
        Person::named(self.app, &self.tenant, self.approver.0.principal.as_str())
    }

    /// A proposal of somebody's own, and how it is submitted.
    async fn prepared(&self, amount: i64) -> (String, impl AsyncFn() -> serde_json::Value) {
        let by = self.app.requester(&self.tenant);
        let proposal = self.app.prepared_at(&by, &self.order, amount, minutes_ago(1)).await.id.to_string();
        let (used, submitted) = (key(), proposal.clone());
        let call = async move || self.app.direct_as(by.clone()).call("submit_refund", submit(&submitted, &used)).await;
        (proposal, call)
    }

    async fn approve(&self, proposal: &str) {
        self.app.decide_as(&self.approver, proposal, Verdict::Approval).await.unwrap();
    }
}

/// What a page gives as the reason why it cannot be submitted: the notice of that, or of not being approvable.
fn reason<'p>(body: &'p str, lead: &str) -> Option<&'p str> {
    let notice = body.split_once(&format!("<strong>{lead}</strong>"))?.1;
    Some(notice.split_once("</div>")?.0)
}

#[test]
fn of_two_alike_the_one_that_was_approved_and_not_submitted_is_told_to_be_stale() {
    run(async {
        let scene = Scene::new(quiet().await).await;
        let person = scene.person();
        let (first, submit_first) = scene.prepared(1_500).await;
        let (second, submit_second) = scene.prepared(1_500).await;
        let (undecided, _) = scene.prepared(1_500).await;
        for proposal in [&first, &second] {
            scene.approve(proposal).await;
            let shown = person.look(proposal).await.body;
            assert!(ALIVE.iter().all(|words| shown.contains(words)) && !shown.contains(CANNOT), "{shown}");
        }
        let submitted = submit_first().await;
        assert_eq!(code(&submitted), "ok", "{submitted}");
        let operation = submitted["operation_id"].as_str().unwrap();

        // What the agent is told, the person is.
        assert_eq!(code(&submit_second().await), "proposal_stale");
        let shown = person.look(&second).await;
        let told = reason(&shown.body, CANNOT).unwrap_or_else(|| panic!("{}", shown.body));
        assert!(told.contains("proposal_stale") && told.contains(operation), "{told}");
        assert!(ALIVE.iter().all(|words| !shown.body.contains(words)), "{}", shown.body);
        assert!(shown.body.contains("approved it at") && offers(&shown, "revoke"), "{}", shown.body);
        let twin = person.look(&undecided).await;
        assert_eq!(reason(&twin.body, "You cannot approve this."), Some(told));
        // Beside others it counts for nothing any more, and in the list it stands apart.
        assert!(!twin.body.contains("approved already"), "{}", twin.body);
        let (heading, text) = row(&person.get("/").await, &second).unwrap();
        assert!(heading == LISTED && text.contains(operation) && !text.contains("yet"), "{heading}: {text}");

        // When the first is called off, the second can be submitted again, and the page says so.
        let cancel = json!({ "operation_id": operation });
        let by = scene.app.proposal(&scene.tenant, &first).await.requester;
        let by = json!({
            "tenant": scene.tenant, "issuer": by.issuer, "principal": by.principal, "actor": by.actor,
            "client": by.client, "roles": ["requester"],
        });
        let by = scene.app.direct_as(serde_json::from_value(by).unwrap());
        assert_eq!(code(&by.call("cancel_refund", cancel).await), "ok");
        let shown = person.look(&second).await.body;
        assert!(ALIVE.iter().all(|words| shown.contains(words)) && !shown.contains(CANNOT), "{shown}");
        assert_eq!(row(&person.get("/").await, &second).unwrap().0, "Approved, and not submitted yet");
        assert_eq!(code(&submit_second().await), "ok");
    });
}

#[test]
fn whoever_decides_about_the_same_amount_is_told_that_one_is_accepted() {
    run(async {
        let scene = Scene::new(quiet().await).await;
        let person = scene.person();
        let [(other, _), (first, _), (second, _), (third, _)] = [
            scene.prepared(700).await,
            scene.prepared(1_500).await,
            scene.prepared(1_500).await,
            scene.prepared(1_600).await,
        ];
        const ONE: &str = "of the two, one is accepted";
        scene.approve(&first).await;
        let shown = person.look(&second).await.body;
        assert!(shown.contains("It is the same amount as this: of the two, one is accepted."), "{shown}");
        scene.approve(&other).await;
        let shown = person.look(&second).await.body;
        assert!(shown.contains("EUR 22.00 of the same order is approved already"), "{shown}");
        assert!(shown.contains("One in it is of the same amount as this: of the two, one is accepted."), "{shown}");
        let shown = person.look(&third).await.body;
        assert!(shown.contains("approved already") && !shown.contains(ONE), "{shown}");
    });
}

#[test]
fn what_no_longer_fits_and_what_nobody_may_approve_any_more_is_told_to_be_so() {
    run(async {
        let scene = Scene::new(quiet().await).await;
        let person = scene.person();
        let (large, submit_large) = scene.prepared(6_000).await;
        let (rest, submit_rest) = scene.prepared(3_500).await;
        let (small, submit_small) = scene.prepared(1_000).await;
        for proposal in [&large, &rest, &small] {
            scene.approve(proposal).await;
        }
        assert_eq!(code(&submit_large().await), "ok");
        assert_eq!(code(&submit_rest().await), "exceeds_refundable");
        let shown = person.look(&rest).await.body;
        let told = reason(&shown, CANNOT).unwrap_or_else(|| panic!("{shown}"));
        assert!(told.contains("exceeds_refundable") && told.contains("EUR 30.00 can be refunded"), "{told}");
        assert!(!person.look(&small).await.body.contains(CANNOT));

        let own = authority_key(&scene.tenant, scene.approver.0.principal.as_str());
        scene.app.put(&own, authority(999)).await;
        assert_eq!(code(&submit_small().await), "approval_revoked");
        let shown = person.look(&small).await.body;
        let told = reason(&shown, CANNOT).unwrap_or_else(|| panic!("{shown}"));
        assert!(told.contains("may not approve it any more") && told.contains("approval_revoked"), "{told}");
        assert_eq!(row(&person.get("/").await, &small).unwrap().0, LISTED);
        // Somebody else may approve it in the place of the one who may not.
        let other = scene.app.approver(&scene.tenant, 50_000).await.0.principal;
        let other = Person::named(scene.app, &scene.tenant, Principal::as_str(&other));
        let decided = other.press(&small, "approve", &[]).await;
        assert_eq!((decided.status, refusal(&decided).1), (200, "none"), "{}", decided.body);
        assert!(decided.body.contains(ALIVE[0]), "{}", decided.body);
        assert_eq!(code(&submit_small().await), "ok");
    });
}
