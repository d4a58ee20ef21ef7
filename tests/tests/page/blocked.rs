//! What is stopped: a person is told before they decide, and may decide what the decision itself takes.

use countersign::bounded::{Currency, Tenant};
use countersign::change::{Change, Step};
use countersign::hold::Turn;
use countersign::operation::State;
use local::visitor::Page;
use refunds::Order;
use tests::{App, run};

use crate::person::{Person, offers, refusal};

const HELD: &str = "An operator has stopped all refunds.";
const FROZEN: &str = "Refunds of this order are stopped.";

/// Says that the provider contradicts so many refunds of the order.
async fn conflicts(app: &App, order: &Order, count: i64) {
    let key = Order::key(&Tenant::parse("acme").unwrap(), &order.id);
    app.commit(Change(vec![Step::update(key).set("conflicts", count)])).await;
}

/// Whether a page says it, and before any form of a proposal's.
fn warns(page: &Page, words: &str) -> bool {
    page.body.split_once(words).is_some_and(|(before, _)| !before.contains("action=\"/proposals/"))
}

#[test]
fn while_all_refunds_are_held_it_is_said_and_people_decide_on() {
    run(async {
        let app = App::quiet().await;
        let order = app.order("acme", Currency::Eur, 9_000).await;
        let [approve, reject] = [app.prepared(&order, 1_000).await, app.prepared(&order, 1_100).await];
        let waiting = app.submitted(&order, 1_200).await;
        let ended = app.submitted(&order, 1_300).await;
        assert_eq!(app.deliver(&ended.operation).await, State::Succeeded);
        let person = Person::signed_in(&app, "acme-approver").await;
        for path in ["/".to_owned(), format!("/proposals/{approve}"), format!("/proposals/{}", waiting.proposal)] {
            assert!(!person.get(&path).await.body.contains(HELD), "{path}");
        }
        app.switch("acme-operator", Turn::Held, "the bank called").await.unwrap();
        assert!(person.get("/").await.body.contains(HELD));
        for proposal in [&approve, &waiting.proposal] {
            let shown = person.look(proposal).await;
            assert!(warns(&shown, HELD), "{}", shown.body);
        }
        assert!(!person.look(&ended.proposal).await.body.contains(HELD), "it has been sent");
        let decided = person.press(&approve, "approve", &[]).await;
        assert!(decided.body.contains("acme-approver approved it at") && warns(&decided, HELD), "{}", decided.body);
        let decided = person.press(&reject, "reject", &[]).await;
        assert!(decided.body.contains("acme-approver rejected it at") && !decided.body.contains(HELD));
        app.switch("acme-operator", Turn::Released, "the bank is back").await.unwrap();
        assert!(!person.look(&approve).await.body.contains(HELD));
        app.stop().await;
    });
}

#[test]
fn while_an_order_is_in_conflict_it_is_said_and_only_the_rejection_is_taken() {
    run(async {
        let app = App::quiet().await;
        let [order, other] =
            [app.order("acme", Currency::Eur, 9_000).await, app.order("acme", Currency::Eur, 9_000).await];
        let [undecided, approved] = [app.prepared(&order, 1_000).await, app.approved(&order, 1_100).await];
        let elsewhere = app.prepared(&other, 1_000).await;
        let waiting = app.submitted(&order, 1_200).await;
        let person = Person::signed_in(&app, "acme-approver").await;
        assert!(!person.look(&undecided).await.body.contains(FROZEN));
        conflicts(&app, &order, 1).await;
        for proposal in [&undecided, &approved, &waiting.proposal] {
            let shown = person.look(proposal).await;
            assert!(warns(&shown, FROZEN) && shown.body.contains("Refunds in conflict"), "{}", shown.body);
        }
        // Of what is approved it is not told to be lost: it can be submitted once that is put right.
        assert!(person.look(&approved).await.body.contains("It is not submitted yet; the approval lapses"));
        let shown = person.look(&undecided).await;
        assert!(!offers(&shown, "approve") && offers(&shown, "reject"));
        assert_eq!(shown.body.matches("class=\"notice\"").count(), 2, "it is said once: {}", shown.body);
        assert_eq!(refusal(&person.force(&undecided, "approve").await), (409, "held"));
        assert!(!person.look(&elsewhere).await.body.contains(FROZEN));
        conflicts(&app, &order, 0).await;
        assert!(offers(&person.look(&undecided).await, "approve"));
        app.stop().await;
    });
}
