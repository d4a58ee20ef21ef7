//! What was certainly not executed is sent again: later, under the same key, byte for byte.

use countersign::bounded::Currency;
use countersign::clock::Timestamp;
use countersign::operation::State;
use local::binaries;
use local::lambda::{Invoked, Lambda};
use local::provider::Behavior;
use local::world::{PROVIDER_ACCOUNTS, PROVIDER_KEY};
use refunds::Order;
use tests::accounts::past;
use tests::worker::{Submitted, WORKER, stream_event};
use tests::{App, quiet, run};
use tokio::net::{TcpListener, TcpSocket};

/// The operation waits for its next attempt, with its money reserved and nothing refunded.
async fn waits(app: &App, order: &Order, refund: &Submitted, attempts: i64) -> String {
    let operation = app.operation(&refund.operation).await;
    assert_eq!((operation.state, operation.attempts), (State::Queued, attempts));
    assert!(operation.due_at.unwrap() > Timestamp::now(), "no wait before the next attempt");
    assert_eq!((app.balances(order).await, app.effects(order)), ((3_000, 2_000, 0), 0));
    operation.request.unwrap()
}

/// Once it is due, the sweeper sends the very same request, and it succeeds.
async fn succeeds_when_due(app: &App, order: &Order, refund: &Submitted, request: &str, requests: usize) {
    app.edit(&refund.operation, |step| step.set("due_at", past())).await;
    app.gateway.sweep().await;
    let operation = app.operation(&refund.operation).await;
    assert_eq!((operation.state, operation.reason), (State::Succeeded, None));
    assert_eq!(operation.request.as_deref(), Some(request));
    assert_eq!((app.requests(&refund.proposal), app.effects(order)), (requests, 1));
    assert_eq!(app.balances(order).await, (3_000, 0, 2_000));
}

async fn is_sent_again_after(behavior: Behavior) {
    let app = quiet().await;
    let order = app.order("acme", Currency::Eur, 5_000).await;
    app.gateway.provider().script(order.payment.as_str(), behavior);
    app.gateway.provider().script(order.payment.as_str(), behavior);
    let refund = app.submitted(&order, 2_000).await;
    assert_eq!(app.deliver(&refund.operation).await, State::Queued);
    let first = waits(app, &order, &refund, 1).await;

    app.edit(&refund.operation, |step| step.set("due_at", past())).await;
    assert_eq!(app.deliver(&refund.operation).await, State::Queued);
    let second = waits(app, &order, &refund, 2).await;
    assert_eq!(first, second);
    succeeds_when_due(app, &order, &refund, &first, 3).await;
}

#[test]
fn a_key_that_the_provider_does_not_accept_is_no_outcome_and_the_refund_is_sent_again() {
    run(is_sent_again_after(Behavior::Unauthorized));
}

#[test]
fn a_provider_that_asks_to_slow_down_is_asked_again_later() {
    run(is_sent_again_after(Behavior::TooManyRequests));
}

#[test]
fn a_first_request_that_cannot_be_repeated_to_the_letter_is_a_person_s_to_decide() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        app.gateway.provider().script(order.payment.as_str(), Behavior::TooManyRequests);
        let refund = app.submitted(&order, 2_000).await;
        app.deliver(&refund.operation).await;
        // As an earlier release of the worker may have written it, or somebody who should not have.
        let request = waits(app, &order, &refund, 1).await;
        let request = request.replace("&reason=", "&metadata%5Brelease%5D=earlier&reason=");
        app.edit(&refund.operation, |step| step.set("request", request.as_str()).set("due_at", past())).await;
        app.gateway.sweep().await;
        assert_eq!(app.operation(&refund.operation).await.state, State::NeedsOperator);
        assert_eq!((app.requests(&refund.proposal), app.effects(&order)), (1, 0));
        assert_eq!(app.balances(&order).await, (3_000, 2_000, 0));
    });
}

#[test]
fn what_is_not_due_yet_is_not_sent_again() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        app.gateway.provider().always(order.payment.as_str(), Behavior::TooManyRequests);
        let refund = app.submitted(&order, 2_000).await;
        app.deliver(&refund.operation).await;
        let later = Timestamp::from_seconds(Timestamp::now().seconds() + 3_600);
        app.edit(&refund.operation, |step| step.set("due_at", later)).await;
        assert_eq!(app.deliver(&refund.operation).await, State::Queued);
        app.gateway.sweep().await;
        assert_eq!(app.requests(&refund.proposal), 1);
    });
}

#[test]
fn the_wait_before_the_next_attempt_grows_up_to_five_minutes() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        app.gateway.provider().always(order.payment.as_str(), Behavior::TooManyRequests);
        let refund = app.submitted(&order, 2_000).await;
        for wait in [5, 10, 20, 40, 80, 160, 300, 300] {
            app.edit(&refund.operation, |step| step.set("due_at", past())).await;
            let before = Timestamp::now().seconds();
            assert_eq!(app.deliver(&refund.operation).await, State::Queued);
            let due = app.operation(&refund.operation).await.due_at.unwrap().seconds();
            assert!((before + wait..=Timestamp::now().seconds() + wait).contains(&due), "{} for {wait}", due - before);
        }
    });
}

#[test]
fn a_provider_that_refuses_the_connection_has_executed_nothing() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let refund = app.submitted(&order, 2_000).await;
        // A port that is taken and does not listen.
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let worker = worker(app, format!("http://{}", socket.local_addr().unwrap()), &[]).await;
        let delivered = worker.invoke(WORKER, stream_event(&refund.operation).to_string().into(), None).await;
        assert!(matches!(delivered, Invoked::Answered(_)), "{delivered:?}");
        worker.shutdown().await;
        let request = waits(app, &order, &refund, 1).await;
        assert_eq!(app.requests(&refund.proposal), 0);
        succeeds_when_due(app, &order, &refund, &request, 1).await;
    });
}

#[test]
fn a_proxy_in_the_environment_is_not_asked_for_money() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let refund = app.submitted(&order, 2_000).await;
        // Whatever asks it waits for an answer, and gets none.
        let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", proxy.local_addr().unwrap());
        let variables = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
        let mut variables = variables.map(|name| (name, address.clone())).to_vec();
        // The AWS SDK does take a proxy from the environment, and the ledger is to be reached.
        let database = app.gateway.database_url().replace("127.0.0.1", "localhost");
        variables.extend([("NO_PROXY", "localhost".to_owned()), ("AWS_ENDPOINT_URL_DYNAMODB", database)]);
        let provider = app.gateway.provider_url().replace("/_countersign/refunds", "");
        let worker = worker(app, provider, &variables).await;
        let delivered = worker.invoke(WORKER, stream_event(&refund.operation).to_string().into(), None).await;
        assert!(matches!(delivered, Invoked::Answered(_)), "{delivered:?}");
        worker.shutdown().await;
        assert_eq!(app.operation(&refund.operation).await.state, State::Succeeded);
        assert_eq!((app.balances(&order).await, app.effects(&order)), ((3_000, 0, 2_000), 1));
    });
}

/// The worker, with its provider at another address, and more in its environment.
async fn worker(app: &App, provider: String, more: &[(&str, String)]) -> Lambda {
    let functions = binaries::build(|_| ()).await.unwrap();
    let worker = functions.into_iter().filter(|function| function.name == WORKER).collect();
    let variables = [
        ("AWS_ENDPOINT_URL_DYNAMODB", app.gateway.database_url()),
        ("COUNTERSIGN_LEDGER_TABLE", "ledger".to_owned()),
        ("COUNTERSIGN_CONSENTS_TABLE", "consents".to_owned()),
        ("COUNTERSIGN_CONSENT_KEYS", app.gateway.keys().consent_set().unwrap()),
        ("COUNTERSIGN_PROVIDER_URL", provider),
        ("COUNTERSIGN_PROVIDER_KEY", PROVIDER_KEY.to_owned()),
        ("COUNTERSIGN_PROVIDER_ACCOUNTS", PROVIDER_ACCOUNTS.to_owned()),
    ];
    let variables = variables.iter().chain(more).map(|(name, value)| ((*name).to_owned(), value.clone()));
    let variables: Vec<_> = variables.collect();
    Lambda::start(worker, move |_| variables.clone(), std::sync::Arc::new(|_, _| ())).await.unwrap()
}
