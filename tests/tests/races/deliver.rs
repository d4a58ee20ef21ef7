//! Deliveries at once: the stream repeats itself, and the sweeper looks at the same time.

use countersign::bounded::Currency;
use countersign::operation::State;
use futures::future::{join, join_all};
use local::provider::Behavior;
use tests::accounts::past;
use tests::{App, rounds, run};

/// Tells the worker of an operation sixteen times at once, while the sweeper runs.
async fn flood(app: &App, operation: &str) {
    join(join_all((0..16).map(|_| app.deliver(operation))), app.gateway.sweep()).await;
}

#[test]
fn an_operation_that_is_delivered_many_times_at_once_is_sent_once() {
    run(async {
        let app = App::quiet().await;
        rounds(25, async |_| {
            let order = app.order("acme", Currency::Eur, 1_000).await;
            let refund = app.submitted(&order, 1_000).await;
            flood(&app, &refund.operation).await;
            let operation = app.operation(&refund.operation).await;
            assert_eq!((operation.state, operation.attempts, operation.fence), (State::Succeeded, 1, 1));
            flood(&app, &refund.operation).await;
            assert_eq!((app.requests(&refund.proposal), app.effects(&order)), (1, 1));
            assert_eq!(app.balances(&order).await, (0, 0, 1_000));
        })
        .await;
        app.stop().await;
    });
}

#[test]
fn each_attempt_is_one_request_however_often_it_is_delivered() {
    run(async {
        let app = App::quiet().await;
        rounds(10, async |_| {
            let order = app.order("acme", Currency::Eur, 1_000).await;
            let refund = app.submitted(&order, 1_000).await;
            let provider = app.gateway.provider();
            provider.always(order.payment.as_str(), Behavior::TooManyRequests);
            for _ in 0..2 {
                app.edit(&refund.operation, |step| step.set("due_at", past())).await;
                flood(&app, &refund.operation).await;
                let operation = app.operation(&refund.operation).await;
                assert_eq!(operation.state, State::Queued);
                assert_eq!(app.requests(&refund.proposal), usize::try_from(operation.attempts).unwrap());
                assert_eq!((app.balances(&order).await, app.effects(&order)), ((0, 1_000, 0), 0));
            }
            provider.always(order.payment.as_str(), Behavior::Succeed);
            app.edit(&refund.operation, |step| step.set("due_at", past())).await;
            flood(&app, &refund.operation).await;
            let operation = app.operation(&refund.operation).await;
            assert_eq!(operation.state, State::Succeeded);
            assert_eq!(app.requests(&refund.proposal), usize::try_from(operation.attempts).unwrap());
            assert_eq!(app.effects(&order), 1);
            assert_eq!(app.balances(&order).await, (0, 0, 1_000));
        })
        .await;
        app.stop().await;
    });
}
