//! Workers that do not come back, and what the stream lost.

use std::time::Duration;

use countersign::bounded::Currency;
use countersign::delivery::Target;
use countersign::operation::State;
use local::lambda::Invoked;
use local::provider::Behavior;
use tests::accounts::past;
use tests::process::kill;
use tests::worker::{WORKER, target};
use tests::{App, quiet, run};

/// Waits until the provider has a request of this proposal.
async fn asked(app: &App, proposal: &str) {
    for _ in 0..2_000 {
        if app.requests(proposal) == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the provider was not asked");
}

/// The worker is killed while the provider does not answer. Its lease is all that is left of it.
async fn killed_while_the_provider(hangs: Behavior, effects: usize) {
    let app = App::start().await;
    let order = app.order("acme", Currency::Eur, 5_000).await;
    app.gateway.provider().script(order.payment.as_str(), hangs);
    let refund = app.submitted(&order, 2_000).await;
    asked(&app, &refund.proposal).await;
    let workers = app.gateway.lambda().processes(WORKER);
    assert_eq!(workers.len(), 1);
    kill("KILL", workers[0]);

    // Another worker finds the lease and keeps away, as long as the first one might live.
    app.wait(&refund.operation, |_| app.gateway.lambda().cold_starts(WORKER) == 2).await;
    assert_eq!(app.deliver(&refund.operation).await, State::Sending);
    app.edit(&refund.operation, |step| step.set("lease_until", past())).await;
    app.until(&refund.operation, "unknown").await;

    app.insist(&refund.operation).await;
    app.until(&refund.operation, "unknown").await;
    assert_eq!((app.requests(&refund.proposal), app.effects(&order)), (1, effects));
    assert_eq!(app.balances(&order).await, (3_000, 2_000, 0));
    app.stop().await;
}

#[test]
fn a_worker_that_is_killed_before_the_refund_leaves_it_unknown() {
    run(killed_while_the_provider(Behavior::HangBefore, 0));
}

#[test]
fn a_worker_that_is_killed_after_the_refund_leaves_it_unknown() {
    run(killed_while_the_provider(Behavior::HangAfter, 1));
}

#[test]
fn a_worker_that_is_killed_fails_its_call_and_the_next_call_finds_another() {
    run(async {
        let app = App::quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        app.gateway.provider().script(order.payment.as_str(), Behavior::HangBefore);
        let (stuck, other) = futures::join!(app.submitted(&order, 2_000), app.submitted(&order, 1_000));
        let (delivered, ()) = futures::join!(app.try_deliver(&stuck.operation), async {
            asked(&app, &stuck.proposal).await;
            kill("KILL", app.gateway.lambda().processes(WORKER)[0]);
        });
        assert!(
            matches!(&delivered, Invoked::FunctionError { kind, .. } if kind == "Runtime.ExitError"),
            "{delivered:?}"
        );
        assert_eq!(app.deliver(&other.operation).await, State::Succeeded);
        assert_eq!(app.balances(&order).await, (2_000, 2_000, 1_000));
        app.stop().await;
    });
}

#[test]
fn what_the_stream_lost_is_swept_up() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let refund = app.submitted(&order, 2_000).await;
        // Not due yet: the stream may still bring it.
        app.gateway.sweep().await;
        assert_eq!((app.operation(&refund.operation).await.state, app.requests(&refund.proposal)), (State::Queued, 0));
        app.edit(&refund.operation, |step| step.set("due_at", past())).await;
        app.gateway.sweep().await;
        assert_eq!(
            (app.operation(&refund.operation).await.state, app.requests(&refund.proposal)),
            (State::Succeeded, 1)
        );
        assert_eq!(app.balances(&order).await, (3_000, 0, 2_000));
    });
}

#[test]
fn a_lapsed_lease_is_found_by_the_sweeper() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let refund = app.submitted(&order, 2_000).await;
        let sending = |step: countersign::change::Step| {
            step.set("state", "sending").set("attempts", 1).set("fence", 1).set("lease_until", past())
        };
        app.edit(&refund.operation, |step| sending(step).set("due_at", past())).await;
        app.gateway.sweep().await;
        assert_eq!(app.operation(&refund.operation).await.state, State::Unknown);
        app.insist(&refund.operation).await;
        assert_eq!(app.operation(&refund.operation).await.state, State::Unknown);
        assert_eq!((app.balances(&order).await, app.requests(&refund.proposal)), ((3_000, 2_000, 0), 0));
    });
}

#[test]
fn refunds_that_wait_for_evidence_do_not_keep_the_sweeper_from_those_that_can_be_sent() {
    run(async {
        let app = App::quiet().await;
        let order = app.order("acme", Currency::Eur, 50_000).await;
        // An outage leaves many refunds unknown, all of them older than what comes next.
        app.gateway.provider().always(order.payment.as_str(), Behavior::ErrorBefore);
        for amount in 1..=30 {
            let lost = app.submitted(&order, amount).await;
            assert_eq!(app.deliver(&lost.operation).await, State::Unknown);
            let Target { tenant, operation } = target(&lost.operation);
            let item = app.item(&countersign::operation::key(&tenant, &operation)).await.unwrap();
            let shard = item.text("due_shard").unwrap();
            assert!(
                shard.starts_with("submit_refund-reconcile-"),
                "{shard}: only who looks for evidence has something left to do"
            );
        }
        app.gateway.provider().always(order.payment.as_str(), Behavior::Succeed);
        let refund = app.submitted(&order, 1_000).await;
        app.edit(&refund.operation, |step| step.set("due_at", past())).await;
        app.gateway.sweep().await;
        assert_eq!(app.operation(&refund.operation).await.state, State::Succeeded);
        app.stop().await;
    });
}
