//! Deciding: what a person's word does, and what is signed.

use std::time::Duration;

use countersign::bounded::Currency;
use countersign::consent::{Consent, Verdict};
use countersign::operation::State;
use local::gateway::PAGE;
use local::provider::Behavior;
use local::tap::{Fault, Rule, Seen};
use tests::app::{code, key, submit};
use tests::people::consent_key;
use tests::{App, quiet, run, shared};

use crate::person::{Person, heading, offers, refusal};

async fn signed(app: &App, proposal: &str) -> Option<Consent> {
    let item = app.item(&consent_key("acme", proposal)).await?;
    Some(Consent::read(&item, app.gateway.consent_keys()).unwrap())
}

#[test]
fn a_person_signs_in_reads_and_approves_and_the_agent_submits() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 12_900).await;
        let proposal = app.prepared(&order, 12_900).await;
        let person = Person::stranger(app);
        // A link leads through the sign-in and back to the proposal.
        let shown =
            person.browser.sign_in(&person.url(&format!("/proposals/{proposal}")), "acme-approver").await.unwrap();
        assert_eq!((shown.status, shown.url.path()), (200, format!("/proposals/{proposal}").as_str()));
        let sentence = format!("Refund EUR 129.00 of order {} back to the customer's original payment", order.id);
        let title = format!("<title>{} ", sentence.replace('\'', "&#39;"));
        assert!(shown.body.contains(&title), "{}", shown.body);
        assert_eq!(heading(&shown), sentence);
        assert!(shown.body.contains("Test mode: no real money moves."));
        let whose = format!("It comes from acme, out of the merchant account {}.", order.account);
        assert!(shown.body.contains(&whose), "{}", shown.body);
        for text in ["acme-clerk", "the agent acme-agent", "the app acme-agent-app", "damaged", "EUR 129.00"] {
            assert!(shown.body.contains(text), "{text}");
        }
        let decided = person.browser.submit(&shown, "/approve", &[]).await.unwrap();
        assert_eq!(decided.url.path(), format!("/proposals/{proposal}"));
        assert!(decided.body.contains("acme-approver approved it at"), "{}", decided.body);
        assert!(!offers(&decided, "approve") && offers(&decided, "revoke"));

        let consent = signed(app, &proposal).await.unwrap();
        let said = consent.statement();
        assert_eq!((said.kind, said.approver.as_str()), (Verdict::Approval, "acme-approver"));
        assert_eq!((said.digest.clone(), said.acknowledged.clone()), (person.digest(&proposal).await, None));
        let answer = app.direct("acme-agent").call("submit_refund", submit(&proposal, &key())).await;
        assert_eq!(code(&answer), "ok", "{answer}");
        app.until(answer["operation_id"].as_str().unwrap(), "succeeded").await;
    });
}

#[test]
fn a_rejection_is_signed_and_ends_the_proposal() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 2_000).await;
        let proposal = app.prepared(&order, 2_000).await;
        let person = Person::signed_in(app, "acme-approver").await;
        let decided = person.press(&proposal, "reject", &[]).await;
        assert!(decided.body.contains("acme-approver rejected it at"), "{}", decided.body);
        assert!(["approve", "reject", "revoke"].iter().all(|verb| !offers(&decided, verb)));
        assert_eq!(signed(app, &proposal).await.unwrap().statement().kind, Verdict::Rejection);
        let answer = app.direct("acme-agent").call("submit_refund", submit(&proposal, &key())).await;
        assert_eq!(code(&answer), "approval_rejected");
    });
}

#[test]
fn the_same_amount_within_a_day_has_to_be_ticked_and_the_tick_is_signed() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 9_000).await;
        let first = app.submitted(&order, 1_000).await;
        let proposal = app.prepared(&order, 1_000).await;
        let person = Person::signed_in(app, "acme-approver").await;
        let shown = person.look(&proposal).await;
        assert_eq!(shown.value("known").as_deref(), Some(first.operation.as_str()));
        let (_, recent) = shown.body.split_once("Its recent refunds").unwrap();
        assert!(recent.contains(&first.operation), "it can be found among the order's: {recent}");

        let unticked = person.browser.submit(&shown, "/approve", &[]).await.unwrap();
        assert_eq!(refusal(&unticked), (422, "acknowledgment_required"));
        let another = format!("op_{}", "a".repeat(26));
        for wrong in ["on", "", another.as_str()] {
            let answer = person.browser.submit(&shown, "/approve", &[("known", wrong)]).await.unwrap();
            assert_eq!(refusal(&answer), (422, "acknowledgment_required"), "{wrong}");
        }
        assert!(signed(app, &proposal).await.is_none());

        person.browser.submit(&shown, "/approve", &[("known", &first.operation)]).await.unwrap();
        let said = signed(app, &proposal).await.unwrap().statement().acknowledged.clone();
        assert_eq!(said.map(|known| known.to_string()), Some(first.operation));
        let answer = app.direct("acme-agent").call("submit_refund", submit(&proposal, &key())).await;
        assert_eq!(code(&answer), "ok", "{answer}");
    });
}

#[test]
fn a_rejection_needs_no_tick_and_a_tick_for_nothing_is_refused() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 9_000).await;
        let first = app.submitted(&order, 1_000).await;
        let (similar, other) = (app.prepared(&order, 1_000).await, app.prepared(&order, 700).await);
        let person = Person::signed_in(app, "acme-approver").await;
        let answer = person.press(&other, "approve", &[("known", &first.operation)]).await;
        assert_eq!(refusal(&answer), (422, "acknowledgment_required"));
        person.press(&similar, "reject", &[]).await;
        assert_eq!(signed(app, &similar).await.unwrap().statement().kind, Verdict::Rejection);
    });
}

#[test]
fn an_approval_is_taken_back_as_long_as_nothing_was_sent() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 9_000).await;
        let person = Person::signed_in(app, "acme-approver").await;
        let (early, queued, sent) =
            (app.prepared(&order, 100).await, app.prepared(&order, 200).await, app.prepared(&order, 300).await);
        let mut operations = Vec::new();
        for proposal in [&early, &queued, &sent] {
            person.press(proposal, "approve", &[]).await;
            if *proposal != early {
                let answer = app.direct("acme-agent").call("submit_refund", submit(proposal, &key())).await;
                operations.push(answer["operation_id"].as_str().unwrap().to_owned());
            }
        }
        assert_eq!(app.deliver(&operations[1]).await, State::Succeeded);

        let before = person.press(&early, "revoke", &[]).await;
        assert!(before.body.contains("that was taken back"), "{}", before.body);
        let refused = app.direct("acme-agent").call("submit_refund", submit(&early, &key())).await;
        assert_eq!(code(&refused), "approval_revoked");

        let stopped = person.press(&queued, "revoke", &[]).await;
        assert_eq!(stopped.status, 200, "{}", stopped.body);
        assert_eq!(app.deliver(&operations[0]).await, State::Cancelled);

        assert!(!offers(&person.look(&sent).await, "revoke"));
        let late = person.force(&sent, "revoke").await;
        assert_eq!(refusal(&late), (409, "already_decided"));
        assert!(late.body.contains("The refund was carried out."), "{}", late.body);
        assert!(!signed(app, &sent).await.unwrap().is_revoked());
    });
}

#[test]
fn an_approval_of_what_is_to_be_sent_again_is_taken_back_and_it_is_not() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 9_000).await;
        app.gateway.provider().script(order.payment.as_str(), Behavior::TooManyRequests);
        let refund = app.submitted(&order, 1_000).await;
        assert_eq!(app.deliver(&refund.operation).await, State::Queued);
        assert_eq!(app.operation(&refund.operation).await.attempts, 1);
        let person = Person::signed_in(app, "acme-approver").await;
        let shown = person.look(&refund.proposal).await;
        assert!(offers(&shown, "revoke") && shown.body.contains("will be tried again"), "{}", shown.body);
        let stopped = person.press(&refund.proposal, "revoke", &[]).await;
        assert_eq!(stopped.status, 200, "{}", stopped.body);
        assert!(stopped.body.contains("will not be tried again") && !offers(&stopped, "revoke"), "{}", stopped.body);
        app.insist(&refund.operation).await;
        assert_eq!(app.operation(&refund.operation).await.state, State::NeedsOperator);
        assert_eq!(app.requests(&refund.proposal), 1);
    });
}

#[test]
fn an_approval_that_was_taken_back_while_the_refund_was_sent_is_said_to_be_too_late() {
    run(async {
        let app = App::quiet_and_tapped().await;
        let person = Person::signed_in(&app, "acme-approver").await;
        let tap = &app.gateway.taps().unwrap().database;
        let order = app.order("acme", Currency::Eur, 9_000).await;
        for round in 0..10 {
            let refund = app.submitted(&order, 100 + round).await;
            let about = std::slice::from_ref(&refund.proposal);
            let late = Rule::next(PAGE, "UpdateItem", Fault::Delay(Duration::from_millis(700)));
            tap.inject(late.about(about));
            let sent = async {
                let revoking = |seen: &Seen| seen.by == PAGE && seen.operation == "UpdateItem";
                while !tap.about(about).iter().any(revoking) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                app.deliver(&refund.operation).await
            };
            let (answer, state) = futures::future::join(person.press(&refund.proposal, "revoke", &[]), sent).await;
            tap.heal();
            if state == State::Succeeded {
                assert_eq!(refusal(&answer), (409, "already_decided"), "{}", answer.body);
                app.stop().await;
                return;
            }
            // It was taken back in time, so that there was no race.
            assert_eq!((answer.status, state), (200, State::Cancelled), "{}", answer.body);
        }
        panic!("no race came about");
    });
}

#[test]
fn an_approval_of_what_may_have_happened_is_not_taken_back() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 9_000).await;
        app.gateway.provider().script(order.payment.as_str(), Behavior::DropAfter);
        let refund = app.submitted(&order, 1_000).await;
        assert_eq!(app.deliver(&refund.operation).await, State::Unknown);
        let person = Person::signed_in(app, "acme-approver").await;
        let shown = person.look(&refund.proposal).await;
        assert!(!offers(&shown, "revoke") && shown.body.contains("is not known yet"), "{}", shown.body);
        assert_eq!(refusal(&person.force(&refund.proposal, "revoke").await), (409, "already_decided"));
        assert!(!signed(app, &refund.proposal).await.unwrap().is_revoked());
    });
}

#[test]
fn who_may_not_approve_takes_no_approval_back() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 9_000).await;
        let proposal = app.approved(&order, 100).await;
        let nobody = Person::named(app, "acme", "nobody-in-particular");
        for person in [Person::signed_in(app, "acme-operator").await, nobody] {
            assert!(!offers(&person.look(&proposal).await, "revoke"));
            assert_eq!(refusal(&person.force(&proposal, "revoke").await), (403, "forbidden"));
        }
        assert!(!signed(app, &proposal).await.unwrap().is_revoked());
        // Whoever may approve may, whether or not it was they who did.
        let junior = Person::signed_in(app, "acme-junior").await;
        assert!(junior.press(&proposal, "revoke", &[]).await.body.contains("that was taken back"));
    });
}

#[test]
fn two_people_at_once_come_to_one_decision() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 9_000).await;
        let proposal = app.prepared(&order, 500).await;
        let (one, other) = (Person::signed_in(app, "acme-approver").await, Person::signed_in(app, "acme-junior").await);
        let (one, other) =
            futures::future::join(one.force(&proposal, "approve"), other.force(&proposal, "reject")).await;
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 409]);
        assert_eq!(app.records_about(&[&proposal]).await.keys().filter(|pk| pk.starts_with("consent#")).count(), 1);
    });
}
