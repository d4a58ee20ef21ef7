//! Refunds of one amount of one order, many of them at once, and chains of those that came to nothing.

use std::collections::BTreeSet;

use countersign::bounded::Currency;
use countersign::caller::Caller;
use countersign::consent::Verdict;
use countersign::operation::State;
use futures::future::join_all;
use local::tap::{Fault, Rule};
use refunds::Order;
use serde_json::{Value, json};
use tests::app::{code, key, prepare, submit};
use tests::{App, run};

/// An approved proposal of a requester of its own.
async fn wish(app: &App, order: &Order, amount: i64) -> (Caller, String) {
    let by = app.requester("acme");
    let answer = app.direct_as(by.clone()).call("prepare_refund", prepare(order, amount)).await;
    let proposal = answer["proposal_id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    app.decide("acme-approver", &proposal, Verdict::Approval).await.unwrap();
    (by, proposal)
}

async fn submitted(app: &App, (by, proposal): &(Caller, String)) -> Value {
    app.direct_as(by.clone()).call("submit_refund", submit(proposal, &key())).await
}

async fn cancelled(app: &App, operation: &Value) {
    let answer = app.direct("acme-operator").call("cancel_refund", json!({ "operation_id": operation })).await;
    assert_eq!(answer["state"], "cancelled", "{answer}");
}

#[test]
fn of_a_crowd_of_alike_one_at_a_time_is_accepted_and_what_came_to_nothing_keeps_none_of_the_others_out() {
    run(async {
        let app = App::quiet().await;
        let order = app.order("acme", Currency::Eur, 50_000).await;
        let mut crowd = join_all((0..10).map(|_| wish(&app, &order, 100))).await;
        while crowd.len() > 1 {
            let answers = join_all(crowd.iter().map(|wish| submitted(&app, wish))).await;
            let codes: BTreeSet<_> = answers.iter().map(|answer| code(answer)).collect();
            assert_eq!(codes, BTreeSet::from(["ok", "proposal_stale"]), "{answers:?}");
            let won: Vec<_> = (0..crowd.len()).filter(|each| code(&answers[*each]) == "ok").collect();
            assert_eq!(won.len(), 1, "{answers:?}");
            let operation = &answers[won[0]]["operation_id"];
            for answer in answers.iter().filter(|answer| code(answer) != "ok") {
                assert_eq!(&answer["error"]["operation_id"], operation, "{answer}");
            }
            assert_eq!(app.balances(&order).await, (49_900, 100, 0));
            cancelled(&app, operation).await;
            crowd.remove(won[0]);
        }
        let last = submitted(&app, &crowd[0]).await;
        assert_eq!(app.deliver(last["operation_id"].as_str().unwrap()).await, State::Succeeded, "{last}");
        assert_eq!(app.balances(&order).await, (49_900, 0, 100));
        app.stop().await;
    });
}

#[test]
fn whoever_learns_of_another_only_after_much_contention_is_asked_to_come_again() {
    run(async {
        let app = App::quiet_and_tapped().await;
        let order = app.order("acme", Currency::Eur, 50_000).await;
        for (conflicts, expected) in [(5, "ok"), (6, "temporarily_unavailable")] {
            let (first, late) = (wish(&app, &order, 100).await, wish(&app, &order, 100).await);
            let operation = submitted(&app, &first).await["operation_id"].clone();
            cancelled(&app, &operation).await;
            let tap = &app.gateway.taps().unwrap().database;
            tap.inject(
                Rule::next("submit_refund", "TransactWriteItems", Fault::TransactionConflict(2)).times(conflicts),
            );
            let answer = submitted(&app, &late).await;
            tap.heal();
            // A decision that gets on with every look is none of a fault's, even where its last round ends with one.
            assert_eq!(code(&answer), expected, "{conflicts}: {answer}");
            let answer = if code(&answer) == "ok" { answer } else { submitted(&app, &late).await };
            cancelled(&app, &answer["operation_id"]).await;
        }
        app.stop().await;
    });
}
