//! Preparing: one proposal for one wish, and another for another.

use std::collections::BTreeSet;

use countersign::bounded::Currency;
use countersign::change::{Change, Step};
use countersign::consent::Verdict;
use futures::future::join_all;
use refunds::Order;
use serde_json::{Value, json};
use tests::app::{code, key, prepare, submit};
use tests::people::minutes_ago;
use tests::{run, shared};

use crate::case::Case;

impl Case<'_> {
    async fn prepare(&self, amount: i64) -> Value {
        self.call("prepare_refund", prepare(&self.order, amount)).await
    }

    /// A prepare that makes a proposal, not found among earlier ones.
    pub(crate) async fn fresh(&self, amount: i64) -> Value {
        let answer = self.prepare(amount).await;
        assert_eq!(answer["reused"], false, "{answer}");
        answer
    }
}

#[test]
fn identical_calls_find_one_proposal() {
    run(async {
        let case = Case::new(shared().await).await;
        let first = case.fresh(1_000).await;
        let mut again = case.prepare(1_000).await;
        assert_eq!(again["reused"], true);
        again["reused"] = json!(false);
        assert_eq!(again, first);
        case.decide(first["proposal_id"].as_str().unwrap(), Verdict::Approval).await;
        assert_eq!(case.prepare(1_000).await["proposal_id"], first["proposal_id"], "an approved one is still open");
        let mut other_agent = case.by.clone();
        other_agent.actor = None;
        let theirs = case.app.direct_as(other_agent).call("prepare_refund", prepare(&case.order, 1_000)).await;
        assert_eq!(theirs["proposal_id"], first["proposal_id"], "the same person through another agent");
    });
}

#[test]
fn sixteen_identical_calls_at_once_find_one_proposal() {
    run(async {
        let case = Case::new(shared().await).await;
        let answers = join_all((0..16).map(|_| case.prepare(1_000))).await;
        let proposals: BTreeSet<&str> =
            answers.iter().map(|answer| answer["proposal_id"].as_str().unwrap_or_else(|| panic!("{answer}"))).collect();
        assert_eq!(proposals.len(), 1, "{answers:?}");
        assert_eq!(answers.iter().filter(|answer| answer["reused"] == false).count(), 1, "{answers:?}");
    });
}

#[test]
fn a_proposal_that_can_no_longer_be_used_gives_way_to_a_new_one() {
    run(async {
        let case = Case::new(shared().await).await;
        let app = case.app;
        let mut seen = BTreeSet::new();
        let lapsed = app.prepared_at(&case.by, &case.order, 1_000, minutes_ago(30)).await;
        seen.insert(lapsed.id.to_string());
        for ending in ["rejected", "revoked", "submitted", "of other terms"] {
            let proposal = case.fresh(1_000).await["proposal_id"].as_str().unwrap().to_owned();
            assert!(seen.insert(proposal.clone()), "{ending}");
            match ending {
                "rejected" => case.decide(&proposal, Verdict::Rejection).await,
                "revoked" => {
                    case.decide(&proposal, Verdict::Approval).await;
                    app.gateway.approvals().revoke(app.persona("acme-approver"), &proposal).await.unwrap();
                }
                "submitted" => {
                    case.decide(&proposal, Verdict::Approval).await;
                    case.succeeded(&proposal, &key()).await;
                }
                _ => {
                    let order = Order::key(&case.by.tenant, &case.order.id);
                    app.commit(Change(vec![Step::update(order).add("terms_version", 1)])).await;
                }
            }
        }
        assert!(seen.insert(case.fresh(1_000).await["proposal_id"].as_str().unwrap().to_owned()));
    });
}

#[test]
fn another_reason_amount_order_or_principal_is_another_proposal() {
    run(async {
        let app = shared().await;
        let (case, other) = (Case::new(app).await, Case::new(app).await);
        let good = prepare(&case.order, 1_000);
        let mut calls = vec![(case.by.clone(), good.clone()), (other.by.clone(), good.clone())];
        for (name, value) in
            [("reason_code", json!("late")), ("amount_minor", json!(1_001)), ("order_id", json!(other.order.id))]
        {
            let mut arguments = good.clone();
            arguments[name] = value;
            calls.push((case.by.clone(), arguments));
        }
        let mut other_issuer = case.by.clone();
        other_issuer.issuer = countersign::bounded::Issuer::parse("https://issuer.example").unwrap();
        calls.push((other_issuer, good));
        let mut proposals = BTreeSet::new();
        for (by, arguments) in &calls {
            let answer = app.direct_as(by.clone()).call("prepare_refund", arguments.clone()).await;
            assert_eq!(answer["reused"], false, "{answer}");
            proposals.insert(answer["proposal_id"].as_str().unwrap().to_owned());
        }
        assert_eq!(proposals.len(), calls.len());
    });
}

#[test]
fn the_least_and_the_largest_amount_are_prepared_and_one_more_is_not() {
    run(async {
        let case = Case::new(shared().await).await;
        let order = case.app.order("acme", Currency::Usd, 60_000).await;
        for (amount, field) in [(0, "amount_minor"), (50_001, "amount_minor")] {
            let refusal = case.refused("prepare_refund", prepare(&order, amount), &[order.id.as_str()]).await;
            assert_eq!((&refusal["code"], &refusal["field"]), (&json!("invalid_input"), &json!(field)), "{amount}");
        }
        for amount in [1, 50_000] {
            let answer = case.call("prepare_refund", prepare(&order, amount)).await;
            assert_eq!((code(&answer), &answer["amount_minor"]), ("ok", &json!(amount)), "{answer}");
        }
    });
}

#[test]
fn every_currency_of_the_allow_list_is_refunded_in_full() {
    run(async {
        let app = shared().await;
        for currency in Currency::ALL {
            let mut case = Case::new(app).await;
            case.order = app.order("acme", *currency, 12_340).await;
            case.succeeded(&case.approved(12_340).await, &key()).await;
            let now = app.order_now("acme", &case.order.id).await;
            assert_eq!((now.refundable_minor.get(), now.refunded_minor.get()), (0, 12_340), "{currency}");
            let effects = app.gateway.provider().effects(case.order.payment.as_str());
            let unit = if *currency == Currency::Isk { 100 } else { 1 };
            let amounts: Vec<(i64, String)> = effects.into_iter().map(|made| (made.amount, made.currency)).collect();
            assert_eq!(amounts, [(12_340 * unit, currency.as_str().to_ascii_lowercase())]);
        }
    });
}

#[test]
fn an_amount_that_the_provider_cannot_represent_is_cancelled_and_given_back_unsent() {
    run(async {
        let mut case = Case::new(shared().await).await;
        case.order = case.app.order("acme", Currency::Kwd, 20_000).await;
        let proposal = case.approved(12_345).await;
        let answer = case.call("submit_refund", submit(&proposal, &key())).await;
        assert_eq!(code(&answer), "ok", "{answer}");
        let operation = answer["operation_id"].as_str().unwrap();
        let cancelled = case.app.until_as(&case.by, operation, "cancelled").await;
        assert!(cancelled["reason"].as_str().unwrap().contains("steps of ten"), "{cancelled}");
        let now = case.app.order_now("acme", &case.order.id).await;
        let balances = (now.refundable_minor.get(), now.reserved_minor.get(), now.refunded_minor.get());
        assert_eq!(balances, (20_000, 0, 0));
        assert_eq!(case.app.sent(&[&proposal]), 0);
        assert!(case.app.gateway.provider().effects(case.order.payment.as_str()).is_empty());
    });
}
