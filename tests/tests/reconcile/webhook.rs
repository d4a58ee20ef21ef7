//! The webhook: what Stripe has signed is a hint to look, what it has not is nothing, and nothing is believed twice.

use std::time::Duration;

use countersign::bounded::Currency;
use countersign::clock::Timestamp;
use countersign::operation::State;
use local::provider::{Behavior, LookupBehavior, WebhookBehavior};
use local::tap::{Fault, Rule};
use refunds::Order;
use tests::worker::Submitted;
use tests::{App, run};

const FUNCTION: &str = "refund_webhook";

/// A gateway whose provider tells what happens; each test has one of its own, since what is told is scripted for all.
async fn told() -> &'static App {
    Box::leak(Box::new(App::told().await))
}

/// A refund whose reply is lost after it was made, while the provider tells of it like this.
async fn lost(app: &App, told: &[WebhookBehavior]) -> (Order, Submitted) {
    let order = app.order("acme", Currency::Eur, 5_000).await;
    for behavior in told {
        app.gateway.provider().webhook_script(behavior.clone());
    }
    app.gateway.provider().script(order.payment.as_str(), Behavior::ErrorAfter);
    let refund = app.submitted(&order, 2_000).await;
    app.deliver(&refund.operation).await;
    (order, refund)
}

/// Waits until the provider has heard so many answers of these statuses.
async fn heard(app: &App, statuses: &[u16]) {
    for _ in 0..2_000 {
        let answers: Vec<u16> = app.gateway.provider().deliveries().iter().filter_map(|told| told.status).collect();
        if answers == statuses {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", app.gateway.provider().deliveries());
}

fn told_of(app: &App) -> String {
    app.gateway.provider().events().last().unwrap()["id"].as_str().unwrap().to_owned()
}

#[test]
fn an_event_makes_it_look_at_once_and_again_changes_nothing() {
    run(async {
        let app = told().await;
        let (order, refund) = lost(app, &[WebhookBehavior::Never]).await;
        assert_eq!(app.operation(&refund.operation).await.state, State::Unknown);
        for told in 1..=2 {
            app.gateway.provider().tell_again(&told_of(app));
            heard(app, &vec![200; told]).await;
            assert_eq!(app.operation(&refund.operation).await.state, State::Succeeded);
            assert_eq!((app.balances(&order).await, app.effects(&order)), ((3_000, 0, 2_000), 1));
        }
    });
}

#[test]
fn money_that_comes_back_is_noticed_long_after_nobody_looks_any_more() {
    run(async {
        let app = told().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let refund = app.submitted(&order, 2_000).await;
        assert_eq!(app.deliver(&refund.operation).await, State::Succeeded);
        app.gateway.provider().come_back(order.payment.as_str()).unwrap();
        app.wait(&refund.operation, |operation| operation.state == State::Returned).await;
        assert_eq!((app.balances(&order).await, app.moved(&order)), ((5_000, 0, 0), 0));
        let status = app.until(&refund.operation, "returned").await;
        assert!(status["next_step"].as_str().unwrap().contains("came back"), "{status}");
    });
}

#[test]
fn whatever_order_number_or_account_events_come_with_the_lookup_decides() {
    run(async {
        for script in [
            vec![WebhookBehavior::Twice],
            vec![WebhookBehavior::AfterNext, WebhookBehavior::Twice],
            vec![WebhookBehavior::Late(Duration::from_millis(300))],
            vec![WebhookBehavior::FromAccount("acct_globex".to_owned())],
        ] {
            let app = told().await;
            let (order, refund) = lost(app, &script).await;
            if script.contains(&WebhookBehavior::AfterNext) {
                app.gateway.provider().come_back(order.payment.as_str()).unwrap();
                let end = app.wait(&refund.operation, |operation| operation.state.is_final()).await;
                assert!(matches!(end.state, State::Returned | State::Failed), "{:?}", end.state);
                assert_eq!(app.balances(&order).await, (5_000, 0, 0));
            } else {
                app.wait(&refund.operation, |operation| operation.state == State::Succeeded).await;
                assert_eq!(app.balances(&order).await, (3_000, 0, 2_000));
            }
            assert!(!app.operation(&refund.operation).await.conflict);
        }
    });
}

#[test]
fn a_forged_event_is_refused_before_the_database_is_asked() {
    run(async {
        let app = told().await;
        let (_, refund) = lost(app, &[WebhookBehavior::Forged]).await;
        // Signed with a secret that is not ours, each time that it comes again.
        heard(app, &[400; 5]).await;
        let mut event = app.gateway.provider().events().last().unwrap().clone();
        let url = app.gateway.http_url(FUNCTION).unwrap();
        let client = reqwest::Client::new();
        // The process is there and warm before anything is counted.
        client.post(url).body("{}").send().await.unwrap();
        app.gateway.taps().unwrap().database.forget();
        let post = async |signature: Option<&str>, body: Vec<u8>| {
            let request = client.post(url).body(body);
            let request = match signature {
                Some(signature) => request.header("stripe-signature", signature),
                None => request,
            };
            request.send().await.unwrap().status().as_u16()
        };
        let body = event.to_string().into_bytes();
        let now = countersign::clock::Timestamp::now().seconds();
        let made_up = format!("t={now},v1={}", "0".repeat(64));
        assert_eq!(post(None, body.clone()).await, 400);
        assert_eq!(post(Some(""), body.clone()).await, 400);
        assert_eq!(post(Some("t=1,v0=1"), body.clone()).await, 400);
        assert_eq!(post(Some(&made_up), body.clone()).await, 400);
        assert_eq!(post(Some(&made_up), vec![0xff; 100]).await, 400);
        assert_eq!(post(Some(&made_up), vec![b' '; 300_000]).await, 413);
        assert_eq!(client.get(url).send().await.unwrap().status().as_u16(), 405);
        event["livemode"] = serde_json::json!(true);
        assert_eq!(post(Some(&made_up), event.to_string().into_bytes()).await, 400);
        assert!(app.gateway.taps().unwrap().database.seen().iter().all(|seen| seen.by != FUNCTION));
        assert_eq!(app.operation(&refund.operation).await.state, State::Unknown);
    });
}

#[test]
fn while_the_ledger_does_not_answer_the_event_comes_again() {
    run(async {
        let app = told().await;
        let (_, refund) = lost(app, &[WebhookBehavior::Never]).await;
        let taps = app.gateway.taps().unwrap();
        // The first read is the new process's own; the second fails as often as the SDK tries.
        taps.database.inject(Rule::next(FUNCTION, "GetItem", Fault::ServerError).after(1).times(3));
        app.gateway.provider().tell_again(&told_of(app));
        heard(app, &[503, 200]).await;
        assert_eq!(app.operation(&refund.operation).await.state, State::Succeeded);
    });
}

/// Waits until the provider has heard this answer.
async fn heard_once(app: &App, status: u16) {
    for _ in 0..2_000 {
        if app.gateway.provider().deliveries().iter().any(|told| told.status == Some(status)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", app.gateway.provider().deliveries());
}

#[test]
fn money_that_comes_back_before_its_success_is_recorded_or_while_no_lookup_works_is_told_again() {
    run(async {
        for recorded in [false, true] {
            let app = told().await;
            let order = app.order("acme", Currency::Eur, 5_000).await;
            let refund = app.submitted(&order, 2_000).await;
            app.gateway.provider().webhook_script(WebhookBehavior::Never);
            assert_eq!(app.deliver(&refund.operation).await, State::Succeeded);
            if recorded {
                app.gateway.provider().lookup_always(order.payment.as_str(), LookupBehavior::Error);
            } else {
                let lease = Timestamp::now() + Duration::from_secs(60);
                app.edit(&refund.operation, |step| step.set("state", "sending").set("lease_until", lease)).await;
            }
            app.gateway.provider().come_back(order.payment.as_str()).unwrap();
            heard_once(app, 503).await;
            if recorded {
                app.gateway.provider().lookup_always(order.payment.as_str(), LookupBehavior::Honest);
            } else {
                app.edit(&refund.operation, |step| step.set("state", "succeeded").remove("lease_until")).await;
            }
            app.gateway.provider().tell_again(&told_of(app));
            app.wait(&refund.operation, |operation| operation.state == State::Returned).await;
            assert_eq!((app.balances(&order).await, app.moved(&order)), ((5_000, 0, 0), 0));
        }
    });
}

#[test]
fn a_refund_of_another_s_payment_that_names_this_intent_makes_nobody_look() {
    run(async {
        let app = told().await;
        let (_, refund) = lost(app, &[WebhookBehavior::Never]).await;
        let other = app.order("globex", Currency::Eur, 5_000).await;
        let form = format!(
            "payment_intent={}&amount=2000&metadata%5Btenant%5D=acme&metadata%5Bintent_id%5D={}",
            other.payment, refund.proposal
        );
        let url = app.gateway.provider_url().replace("/_countersign/", "/v1/");
        let client = reqwest::Client::new();
        let request = client.post(url).bearer_auth(local::world::PROVIDER_KEY).body(form);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let made = request.header("stripe-account", other.account.as_str()).send().await.unwrap();
        assert_eq!(made.status().as_u16(), 200, "{}", made.text().await.unwrap());
        heard(app, &[200]).await;
        let lookups = app
            .gateway
            .provider()
            .requests()
            .iter()
            .filter(|seen| seen.path == "/v1/refunds" && seen.method == "GET")
            .count();
        assert_eq!((lookups, app.operation(&refund.operation).await.state), (0, State::Unknown));
    });
}
