//! Rivals: two submissions at once of which one, or both, may win.

use countersign::bounded::{Currency, IdempotencyKey};
use countersign::effect::Effect as _;
use countersign::operation::{self, State};
use futures::future::join;
use refunds::Refund;
use serde_json::Value;
use tests::app::{code, key, prepare, submit};
use tests::{App, rounds, run};

/// Submits two at once; gives the answers.
async fn race(app: &App, one: (&str, &str), other: (&str, &str)) -> (Value, Value) {
    let agent = app.direct("acme-agent");
    join(agent.call("submit_refund", submit(one.0, one.1)), agent.call("submit_refund", submit(other.0, other.1))).await
}

/// The winner's answer and the loser's.
fn ranked(answers: (Value, Value)) -> (Value, Value) {
    let (one, other) = answers;
    assert_ne!(code(&one) == "ok", code(&other) == "ok", "{one} {other}");
    if code(&one) == "ok" { (one, other) } else { (other, one) }
}

fn operation(answer: &Value) -> &str {
    answer["operation_id"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// Whether the agent's key has claimed an operation.
async fn claimed(app: &App, key: &str) -> bool {
    let key = IdempotencyKey::parse(key).unwrap();
    let id = operation::id(&app.caller("acme-agent"), Refund::COMMAND, &key).unwrap();
    app.find(&id).await.is_some()
}

#[test]
fn of_two_keys_for_one_proposal_one_wins_and_the_other_is_told_by_which_operation() {
    run(async {
        let app = App::start().await;
        rounds(200, async |_| {
            let order = app.order("acme", Currency::Eur, 1_000).await;
            let (proposal, one, other) = (app.approved(&order, 1_000).await, key(), key());
            let (won, lost) = ranked(race(&app, (&proposal, &one), (&proposal, &other)).await);
            assert_eq!(code(&lost), "proposal_already_submitted", "{lost}");
            assert_eq!(lost["error"]["operation_id"], won["operation_id"]);
            assert_ne!(claimed(&app, &one).await, claimed(&app, &other).await);
            assert_eq!(app.settled(operation(&won)).await.state, State::Succeeded);
            assert_eq!((app.balances(&order).await, app.effects(&order)), ((0, 0, 1_000), 1));
        })
        .await;
        app.stop().await;
    });
}

#[test]
fn of_two_refunds_that_together_exceed_the_order_one_is_made() {
    run(async {
        let app = App::start().await;
        rounds(200, async |_| {
            let order = app.order("acme", Currency::Eur, 1_000).await;
            let (one, other) = join(app.approved(&order, 600), app.approved(&order, 700)).await;
            let (won, lost) = ranked(race(&app, (&one, &key()), (&other, &key())).await);
            // Its terms are as they were, and it says what is wrong.
            assert_eq!(code(&lost), "exceeds_refundable", "{lost}");
            let amount = won["amount_minor"].as_i64().unwrap();
            assert_eq!(app.settled(operation(&won)).await.state, State::Succeeded);
            assert_eq!((app.balances(&order).await, app.effects(&order)), ((1_000 - amount, 0, amount), 1));
        })
        .await;
        app.stop().await;
    });
}

#[test]
fn of_two_refunds_that_fit_neither_makes_the_other_stale() {
    run(async {
        let app = App::start().await;
        rounds(200, async |_| {
            let order = app.order("acme", Currency::Eur, 1_000).await;
            let (one, other) = join(app.approved(&order, 400), app.approved(&order, 600)).await;
            let (one, other) = race(&app, (&one, &key()), (&other, &key())).await;
            for answer in [&one, &other] {
                assert_eq!(code(answer), "ok", "{answer}");
                assert_eq!(app.settled(operation(answer)).await.state, State::Succeeded);
            }
            assert_eq!((app.balances(&order).await, app.effects(&order)), ((0, 0, 1_000), 2));
        })
        .await;
        app.stop().await;
    });
}

#[test]
fn of_two_alike_one_is_made_and_the_other_needs_a_person_who_knows_of_it() {
    run(async {
        let app = App::start().await;
        rounds(200, async |_| {
            let order = app.order("acme", Currency::Eur, 1_000).await;
            let (one, other) = join(app.approved(&order, 500), late(&app, &order, 500)).await;
            let (won, lost) = ranked(race(&app, (&one, &key()), (&other, &key())).await);
            assert_eq!(code(&lost), "proposal_stale", "{lost}");
            assert_eq!(lost["error"]["operation_id"], won["operation_id"]);
            assert_eq!(app.settled(operation(&won)).await.state, State::Succeeded);
            assert_eq!((app.balances(&order).await, app.effects(&order)), ((500, 0, 500), 1));
        })
        .await;
        app.stop().await;
    });
}

/// An approved proposal for another reason than [`App::approved`] gives.
async fn late(app: &App, order: &refunds::Order, amount: i64) -> String {
    let mut arguments = prepare(order, amount);
    arguments["reason_code"] = "late".into();
    let answer = app.direct("acme-agent").call("prepare_refund", arguments).await;
    let proposal = answer["proposal_id"].as_str().unwrap().to_owned();
    app.decide("acme-approver", &proposal, countersign::consent::Verdict::Approval).await.unwrap();
    proposal
}

#[test]
fn of_two_proposals_under_one_key_one_is_submitted_and_the_other_needs_a_key_of_its_own() {
    run(async {
        let app = App::start().await;
        rounds(100, async |_| {
            let order = app.order("acme", Currency::Eur, 1_000).await;
            let (one, other) = join(app.approved(&order, 300), app.approved(&order, 400)).await;
            let key = key();
            let (won, lost) = ranked(race(&app, (&one, &key), (&other, &key)).await);
            assert_eq!(code(&lost), "idempotency_key_reused", "{lost}");
            assert_eq!(lost["error"]["operation_id"], won["operation_id"]);
            let amount = won["amount_minor"].as_i64().unwrap();
            assert_eq!(app.settled(operation(&won)).await.state, State::Succeeded);
            assert_eq!((app.balances(&order).await, app.effects(&order)), ((1_000 - amount, 0, amount), 1));
        })
        .await;
        app.stop().await;
    });
}
