//! Alike: the same amount of the same order twice in a day. Whoever approves the second has to know of the first, also
//! where both were approved before either was submitted.

use std::time::Duration;

use countersign::bounded::IdempotencyKey;
use countersign::change::{Change, Step};
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::consent::Verdict;
use countersign::operation::State;
use countersign::submit::Submit;
use local::provider::Behavior;
use refunds::Refund;
use serde_json::{Value, json};
use tests::app::{code, key, prepare, submit};
use tests::people::proposal_key;
use tests::{App, run, shared};

use crate::case::Case;

impl Case<'_> {
    /// An approved proposal for this reason.
    async fn approved_for(&self, reason: &str, amount: i64) -> String {
        let mut arguments = prepare(&self.order, amount);
        arguments["reason_code"] = json!(reason);
        let answer = self.call("prepare_refund", arguments).await;
        let proposal = answer["proposal_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        self.decide(&proposal, Verdict::Approval).await;
        proposal
    }

    /// A refund that the provider refused.
    async fn failed(&self, proposal: &str) -> String {
        let payment = self.order.payment.as_str();
        self.app.gateway.provider().script(payment, Behavior::Decline);
        let answer = self.call("submit_refund", submit(proposal, &key())).await;
        let operation = answer["operation_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        self.app.until_as(&self.by, &operation, "failed").await;
        self.app.gateway.provider().script(payment, Behavior::Succeed);
        operation
    }
}

#[test]
fn a_refund_of_the_same_order_and_amount_within_a_day_is_named() {
    run(async {
        let case = Case::new(shared().await).await;
        let first = case.fresh(1_000).await;
        assert_eq!(first.get("similar_operation_id"), None, "{first}");
        let proposal = first["proposal_id"].as_str().unwrap();
        case.decide(proposal, Verdict::Approval).await;
        let operation = case.succeeded(proposal, &key()).await;
        let second = case.fresh(1_000).await;
        assert_eq!(second["similar_operation_id"], operation);
        let persona = case.app.persona("acme-approver");
        let shown = case.app.gateway.approvals().show(persona, second["proposal_id"].as_str().unwrap()).await.unwrap();
        assert!(shown.lines.iter().any(|(_, text)| text.contains(&operation)), "{shown:?}");
        for other in [case.fresh(999).await, Case::new(case.app).await.fresh(1_000).await] {
            assert_eq!(other.get("similar_operation_id"), None, "{other}");
        }
        let hour = Duration::from_secs(3_600);
        for (later, named) in [(23 * hour, true), (25 * hour, false)] {
            let intent = case.app.prepared_at(&case.by, &case.order, 1_000, Timestamp::now() + later).await;
            assert_eq!(intent.effect.similar_operation_id.is_some(), named, "{later:?}");
        }
    });
}

#[test]
fn a_similar_refund_is_part_of_what_a_person_approves() {
    run(async {
        let case = Case::new(shared().await).await;
        case.succeeded(&case.approved(1_000).await, &key()).await;
        let proposal = case.approved(1_000).await;
        let at = proposal_key("acme", &proposal);
        let effect = case.app.item(&at).await.unwrap().text("effect").unwrap().to_owned();
        let mut without: Value = serde_json::from_str(&effect).unwrap();
        without.as_object_mut().unwrap().remove("similar_operation_id").unwrap();
        case.app.commit(Change(vec![Step::update(at.clone()).set("effect", without.to_string())])).await;
        assert_eq!(case.submission_refused(&proposal).await["code"], "internal");
        case.app.commit(Change(vec![Step::update(at).set("effect", effect)])).await;
        case.succeeded(&proposal, &key()).await;
    });
}

#[test]
fn a_similar_refund_that_the_provider_refused_is_not_named_and_one_that_may_have_happened_is() {
    run(async {
        for (behavior, state, named) in [
            (Behavior::Decline, "failed", false),
            (Behavior::ErrorBefore, "unknown", true),
            (Behavior::ErrorAfter, "unknown", true),
        ] {
            let case = Case::new(shared().await).await;
            case.app.gateway.provider().script(case.order.payment.as_str(), behavior);
            let answer = case.call("submit_refund", submit(&case.approved(1_000).await, &key())).await;
            case.app.until_as(&case.by, answer["operation_id"].as_str().unwrap(), state).await;
            let again = case.fresh(1_000).await;
            assert_eq!(again.get("similar_operation_id"), named.then_some(&answer["operation_id"]), "{behavior:?}");
        }
    });
}

#[test]
fn of_two_that_were_approved_side_by_side_the_second_is_stale_and_has_to_be_prepared_anew() {
    run(async {
        let case = Case::new(shared().await).await;
        let (one, other) = (case.approved_for("damaged", 1_000).await, case.approved_for("late", 1_000).await);
        let unlike = case.approved_for("late", 999).await;
        let operation = case.succeeded(&one, &key()).await;
        let refusal = case.submission_refused(&other).await;
        assert_eq!((&refusal["code"], &refusal["operation_id"]), (&json!("proposal_stale"), &json!(operation)));
        case.succeeded(&unlike, &key()).await;

        // The same call makes another proposal now, which names the first refund; with the tick it goes through.
        let again = case.approved_for("late", 1_000).await;
        assert_ne!(again, other);
        let second = case.succeeded(&again, &key()).await;
        assert_eq!(case.app.balances(&case.order).await, (20_000 - 2_999, 0, 2_999));
        // The stale one stays so, and now it is the second that it does not name.
        assert_eq!(case.submission_refused(&other).await["operation_id"], second);
    });
}

#[test]
fn two_that_name_the_same_refund_do_not_both_go_through() {
    run(async {
        let case = Case::new(shared().await).await;
        let first = case.succeeded(&case.approved(1_000).await, &key()).await;
        let (one, other) = (case.approved_for("late", 1_000).await, case.approved_for("goodwill", 1_000).await);
        for proposal in [&one, &other] {
            let proposal = case.app.proposal("acme", proposal).await;
            assert_eq!(proposal.effect.similar_operation_id.unwrap().as_str(), first);
        }
        let second = case.succeeded(&one, &key()).await;
        let refusal = case.submission_refused(&other).await;
        assert_eq!((&refusal["code"], &refusal["operation_id"]), (&json!("proposal_stale"), &json!(second)));
    });
}

#[test]
fn one_that_came_to_nothing_or_is_a_day_old_makes_no_other_stale() {
    run(async {
        let case = Case::new(shared().await).await;
        let (one, other) = (case.approved_for("damaged", 1_000).await, case.approved_for("late", 1_000).await);
        case.failed(&one).await;
        case.succeeded(&other, &key()).await;
        assert_eq!(case.app.balances(&case.order).await, (19_000, 0, 1_000));

        for (hours, accepted) in [(23, false), (25, true)] {
            let case = Case::new(case.app).await;
            let later = Timestamp::now() + Duration::from_secs(hours * 3_600);
            let mut intent = case.app.prepared_at(&case.by, &case.order, 1_000, later).await;
            case.app.decide_at(&case.approver, intent.id.as_str(), Verdict::Approval, later).await.unwrap();
            case.succeeded(&case.approved_for("late", 1_000).await, &key()).await;
            let key = IdempotencyKey::parse(&key()).unwrap();
            let gateway = &case.app.gateway;
            let submit = Submit::<Refund>::new(&case.by, intent.id.clone(), &key, gateway.consent_keys()).unwrap();
            let submitted = execute(gateway.ledger(), &|| later, &submit).await;
            assert_eq!(submitted.is_ok(), accepted, "{hours}: {submitted:?}");
            intent = case.app.proposal("acme", intent.id.as_str()).await;
            assert_eq!(intent.consumed_by.is_some(), accepted);
        }
    });
}

#[test]
fn one_that_went_through_is_named_however_many_after_it_came_to_nothing() {
    run(async {
        let app = App::quiet().await;
        for (after, named) in [(4, 0), (5, 1)] {
            let case = Case::new(&app).await;
            let mut operations = Vec::new();
            for _ in 0..=after {
                let answer = case.call("submit_refund", submit(&case.approved(1_000).await, &key())).await;
                operations.push(answer["operation_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned());
            }
            assert_eq!(app.deliver(&operations[0]).await, State::Succeeded);
            for operation in &operations[1..] {
                assert_eq!(code(&case.call("cancel_refund", json!({ "operation_id": operation })).await), "ok");
            }
            // After four steps back nobody looks further, and what is there is named whatever became of it.
            let again = case.fresh(1_000).await;
            assert_eq!(again["similar_operation_id"], operations[named], "{after}");
            case.decide(again["proposal_id"].as_str().unwrap(), Verdict::Approval).await;
            let answer = case.call("submit_refund", submit(again["proposal_id"].as_str().unwrap(), &key())).await;
            assert_eq!(code(&answer), "ok", "{answer}");
        }
        app.stop().await;
    });
}
