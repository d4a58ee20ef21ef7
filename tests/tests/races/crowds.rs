//! Crowds: one proposal submitted ten thousand times, and one order that two hundred refunds want a part of.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use countersign::bounded::Currency;
use countersign::operation::State;
use futures::future::join_all;
use futures::stream::{self, StreamExt as _};
use local::lambda::MAX_PROCESSES;
use local::tap::{Fault, Rule};
use serde_json::Value;
use tests::app::{code, key, submit};
use tests::{App, run};

/// How many calls are under way at once.
const IN_FLIGHT: usize = 64;

/// What is written down for `.ci/run` to show.
fn report(name: &str, text: &str) {
    println!("{text}");
    std::fs::write(format!("{}/{name}.txt", env!("CARGO_TARGET_TMPDIR")), format!("{text}\n")).unwrap();
}

#[test]
fn ten_thousand_submissions_of_one_key_are_one_operation_one_receipt_and_one_effect() {
    const CALLS: usize = 10_000;
    run(async {
        let app = App::quiet_and_tapped().await;
        let order = app.order("acme", Currency::Eur, 10_000).await;
        let (proposal, key) = (app.approved(&order, 10_000).await, key());
        let agent = app.direct("acme-agent");
        let tap = &app.gateway.taps().unwrap().database;
        // All processes are there, and the first write of each waits until the others have read that there is none.
        let absent = format!("prop_{}", "a".repeat(26));
        join_all((0..IN_FLIGHT).map(|_| agent.call("submit_refund", submit(&absent, &key)))).await;
        let about = std::slice::from_ref(&proposal);
        let late = Rule::next("submit_refund", "TransactWriteItems", Fault::Delay(Duration::from_millis(300)));
        tap.inject(late.times(MAX_PROCESSES).about(about));
        let calls = stream::iter(0..CALLS).map(|_| agent.call("submit_refund", submit(&proposal, &key)));
        let answers: Vec<Value> = calls.buffer_unordered(IN_FLIGHT).collect().await;
        let mut requests = BTreeMap::new();
        let mut written = BTreeSet::new();
        for seen in tap.about(about).into_iter().filter(|seen| seen.by == "submit_refund") {
            if (seen.operation.as_str(), seen.status) == ("TransactWriteItems", 200) {
                // The SDK may repeat a write under the same token, which is answered and not done again.
                written.insert(seen.body.clone());
            }
            *requests.entry((seen.operation, seen.status)).or_insert(0_usize) += 1;
        }
        let receipt = |answer: &Value| {
            let mut receipt = answer.clone();
            receipt.as_object_mut().unwrap().remove("replayed");
            receipt.to_string()
        };
        let first = receipt(&answers[0]);
        for answer in &answers {
            assert_eq!((code(answer), receipt(answer)), ("ok", first.clone()));
        }
        assert_eq!(answers.iter().filter(|answer| answer["replayed"] == false).count(), 1);
        let of = |operation: &str, status| requests.get(&(operation.to_owned(), status)).copied().unwrap_or_default();
        let lost = of("TransactWriteItems", 400);
        assert_eq!(written.len(), 1, "{requests:?}");
        assert!(lost > 0, "there was no race: {requests:?}");
        // Whoever lost has the winner's record from the refusal, or reads once more where there was contention.
        assert!((CALLS..=CALLS + lost).contains(&of("BatchGetItem", 200)), "{requests:?}");

        let operation = answers[0]["operation_id"].as_str().unwrap();
        assert_eq!(app.deliver(operation).await, State::Succeeded);
        assert_eq!((app.effects(&order), app.requests(&proposal)), (1, 1));
        assert_eq!(app.balances(&order).await, (0, 0, 10_000));
        let processes = app.gateway.lambda().cold_starts("submit_refund");
        report(
            "duplicates",
            &format!(
                "{CALLS} submissions of one key, {IN_FLIGHT} at once over {processes} processes: 1 operation, 1 receipt, \
                 1 effect; requests {requests:?}"
            ),
        );
        app.stop().await;
    });
}

#[test]
fn two_hundred_refunds_of_one_order_never_exceed_what_was_captured() {
    const REFUNDS: i64 = 200;
    const CAPTURED: i64 = 10_000;
    run(async {
        let app = App::quiet().await;
        let order = app.order("acme", Currency::Eur, CAPTURED).await;
        // Each of another amount, since a second refund of the same amount is the first one's twin.
        let amounts: Vec<i64> = (1..=REFUNDS).map(|number| 50 + number).collect();
        let prepared = stream::iter(&amounts).map(async |amount| (*amount, app.approved(&order, *amount).await, key()));
        let prepared: Vec<_> = prepared.buffer_unordered(IN_FLIGHT).collect().await;
        let agent = app.direct("acme-agent");
        let submitted = stream::iter(&prepared).map(async |(amount, proposal, key)| {
            for _ in 0..100 {
                let answer = agent.call("submit_refund", submit(proposal, key)).await;
                if code(&answer) != "temporarily_unavailable" {
                    return (*amount, answer);
                }
            }
            panic!("{proposal} is neither accepted nor refused");
        });
        let submitted: Vec<(i64, Value)> = submitted.buffer_unordered(IN_FLIGHT).collect().await;
        let (accepted, refused): (Vec<_>, Vec<_>) = submitted.into_iter().partition(|(_, answer)| code(answer) == "ok");
        for (_, answer) in &refused {
            assert_eq!(code(answer), "exceeds_refundable", "{answer}");
        }
        let sum: i64 = accepted.iter().map(|(amount, _)| amount).sum();
        assert!(sum <= CAPTURED, "{sum}");
        let least = refused.iter().map(|(amount, _)| *amount).min().unwrap();
        assert!(CAPTURED - sum < least, "{least} was refused although {} is left", CAPTURED - sum);
        assert_eq!(app.balances(&order).await, (CAPTURED - sum, sum, 0));

        let operations: Vec<&str> =
            accepted.iter().map(|(_, answer)| answer["operation_id"].as_str().unwrap()).collect();
        let delivered = stream::iter(&operations).map(async |operation| {
            for _ in 0..100 {
                app.try_deliver(operation).await;
                if app.operation(operation).await.state == State::Succeeded {
                    return;
                }
            }
            panic!("{operation} is not delivered");
        });
        delivered.buffer_unordered(IN_FLIGHT).collect::<Vec<_>>().await;
        assert_eq!(app.balances(&order).await, (CAPTURED - sum, 0, sum));
        assert_eq!((app.effects(&order), app.moved(&order)), (accepted.len(), sum));
        report(
            "partial",
            &format!(
                "{REFUNDS} refunds of one order of {CAPTURED} at once: {} accepted, together {sum}; {} refused; the \
                 provider refunded {sum}",
                accepted.len(),
                refused.len()
            ),
        );
        app.stop().await;
    });
}
