//! Refunds of one amount of one order, many of them at once, and chains of those that came to nothing.

use std::collections::{BTreeMap, BTreeSet};

use countersign::bounded::Currency;
use countersign::caller::Caller;
use countersign::consent::Verdict;
use countersign::operation::State;
use futures::future::join_all;
use local::provider::Behavior;
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
            let codes: BTreeSet<_> = answers.iter().map(code).collect();
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

/// Whether whoever approved `later` could follow what it names back to `earlier`.
fn leads(named: &BTreeMap<String, Option<String>>, later: &str, earlier: &str) -> bool {
    let mut at = named[later].as_deref();
    for _ in 0..named.len() {
        match at {
            Some(id) if id == earlier => return true,
            Some(id) => at = named[id].as_deref(),
            None => return false,
        }
    }
    false
}

#[test]
fn of_many_who_want_the_same_again_and_again_each_that_goes_through_is_known_of_by_whoever_approves_the_next() {
    run(async {
        let app = App::start().await;
        let order = app.order("acme", Currency::Eur, 50_000).await;
        let payment = order.payment.as_str();
        let wishing = async |who: usize| {
            let by = app.requester("acme");
            let mut accepted = Vec::new();
            for round in 0..6 {
                let behavior = if (who + round).is_multiple_of(3) { Behavior::Decline } else { Behavior::Succeed };
                app.gateway.provider().script(payment, behavior);
                let prepared = app.direct_as(by.clone()).call("prepare_refund", prepare(&order, 100)).await;
                let proposal = prepared["proposal_id"].as_str().unwrap_or_else(|| panic!("{prepared}"));
                match app.decide("acme-approver", proposal, Verdict::Approval).await {
                    Ok(_) => {}
                    // What made it stale came to nothing meanwhile: the same proposal is right again, and is approved.
                    Err(refused) if refused.code().as_str() == "already_decided" => {}
                    Err(refused) if refused.code().as_str() == "proposal_stale" => continue,
                    Err(refused) => panic!("{refused}"),
                }
                let answer = submitted(&app, &(by.clone(), proposal.to_owned())).await;
                match code(&answer) {
                    "ok" => {}
                    "proposal_stale" => continue,
                    _ => panic!("{answer}"),
                }
                let operation = answer["operation_id"].as_str().unwrap().to_owned();
                if (who + round).is_multiple_of(2) {
                    let cancel = json!({ "operation_id": operation });
                    app.direct("acme-operator").call("cancel_refund", cancel).await;
                }
                accepted.push(operation);
            }
            accepted
        };
        let before = app.submitted(&order, 100).await.operation;
        assert_eq!(app.settled(&before).await.state, State::Succeeded);
        let mut accepted: Vec<String> = join_all((0..5).map(wishing)).await.into_iter().flatten().collect();
        app.gateway.provider().script(payment, Behavior::Succeed);
        for id in &accepted {
            app.settled(id).await;
        }
        accepted.extend([before, app.submitted(&order, 100).await.operation]);
        let (mut named, mut paid) = (BTreeMap::new(), Vec::new());
        for id in &accepted {
            let operation = app.settled(id).await;
            let similar = operation.effect.similar_operation_id.map(|similar| similar.to_string());
            named.insert(id.clone(), similar);
            if operation.state == State::Succeeded {
                paid.push(id.as_str());
            }
        }
        for one in &paid {
            for other in paid.iter().filter(|other| *other != one) {
                let known = leads(&named, one, other) || leads(&named, other, one);
                assert!(known, "{one} and {other} went through, and neither was known of: {named:?}");
            }
        }
        let money = i64::try_from(paid.len()).unwrap() * 100;
        assert_eq!((app.balances(&order).await, app.moved(&order)), ((50_000 - money, 0, money), money));
        assert!(paid.len() > 1, "{paid:?} of {accepted:?}");
        app.stop().await;
    });
}
