//! What was stopped, or ran out of time, before it was sent; and what can no longer be stopped.

use countersign::bounded::{Currency, Principal, Tenant};
use countersign::change::{Change, Step};
use countersign::consent::{Authority, Verdict};
use countersign::hold::Turn;
use countersign::operation::State;
use local::provider::Behavior;
use refunds::Order;
use tests::accounts::past;
use tests::app::{code, key, submit};
use tests::worker::Submitted;
use tests::{App, quiet, run};

/// A refund of 2,000 out of 5,000 that was accepted and not sent.
async fn waiting(app: &App) -> (Order, Submitted) {
    let order = app.order("acme", Currency::Eur, 5_000).await;
    let refund = app.submitted(&order, 2_000).await;
    assert_eq!(app.balances(&order).await, (3_000, 2_000, 0));
    (order, refund)
}

/// The same, after an attempt that was certainly not executed.
async fn attempted(app: &App) -> (Order, Submitted) {
    let (order, refund) = waiting(app).await;
    app.gateway.provider().script(order.payment.as_str(), Behavior::TooManyRequests);
    assert_eq!(app.deliver(&refund.operation).await, State::Queued);
    app.edit(&refund.operation, |step| step.set("due_at", past())).await;
    (order, refund)
}

/// It ends like this without ever having been sent, and its money is refundable again.
async fn ends(app: &App, order: &Order, refund: &Submitted, state: State, reason: &str) {
    assert_eq!(app.deliver(&refund.operation).await, state);
    app.insist(&refund.operation).await;
    let status = app.until(&refund.operation, state.as_str()).await;
    assert_eq!(status["reason"], reason);
    assert_eq!((app.balances(order).await, app.requests(&refund.proposal)), ((5_000, 0, 0), 0));
}

/// Somebody has to look: it is not sent again, and its money stays reserved.
async fn needs_somebody(app: &App, order: &Order, refund: &Submitted) {
    assert_eq!(app.deliver(&refund.operation).await, State::NeedsOperator);
    app.insist(&refund.operation).await;
    app.until(&refund.operation, "needs_operator").await;
    assert_eq!((app.balances(order).await, app.requests(&refund.proposal)), ((3_000, 2_000, 0), 1));
}

async fn revoke(app: &App, refund: &Submitted) {
    app.gateway.approvals().revoke(app.persona("acme-approver"), &refund.proposal).await.unwrap();
}

async fn move_terms(app: &App, order: &Order) {
    let key = Order::key(&Tenant::parse("acme").unwrap(), &order.id);
    app.commit(Change(vec![Step::update(key).add("terms_version", 1)])).await;
}

/// Changes what a persona may approve. It holds for every test of the gateway, so that has to be the test's own.
async fn authority(app: &App, persona: &str, change: impl FnOnce(Step) -> Step) {
    let key = Authority::key(&Tenant::parse("acme").unwrap(), &Principal::parse(persona).unwrap());
    app.commit(Change(vec![change(Step::update(key))])).await;
}

#[test]
fn a_refund_whose_approval_was_revoked_is_cancelled_before_it_is_sent() {
    run(async {
        let app = quiet().await;
        let (order, refund) = waiting(app).await;
        revoke(app, &refund).await;
        ends(app, &order, &refund, State::Cancelled, "the approval was withdrawn").await;
    });
}

#[test]
fn a_refund_whose_approver_lost_the_authority_is_cancelled_before_it_is_sent() {
    run(async {
        let app = App::quiet().await;
        let (order, refund) = waiting(&app).await;
        authority(&app, "acme-approver", |step| step.set("active", false)).await;
        ends(&app, &order, &refund, State::Cancelled, "the approval was withdrawn").await;
        app.stop().await;
    });
}

#[test]
fn a_refund_over_its_approvers_new_limit_is_cancelled_before_it_is_sent() {
    run(async {
        let app = App::quiet().await;
        let (order, refund) = waiting(&app).await;
        authority(&app, "acme-approver", |step| step.set(Currency::Eur.limit_attribute(), 1_999)).await;
        ends(&app, &order, &refund, State::Cancelled, "the approval was withdrawn").await;
        app.stop().await;
    });
}

#[test]
fn a_refund_of_an_order_whose_terms_moved_is_cancelled_before_it_is_sent() {
    run(async {
        let app = quiet().await;
        let (order, refund) = waiting(app).await;
        move_terms(app, &order).await;
        ends(app, &order, &refund, State::Cancelled, "its subject changed").await;
    });
}

#[test]
fn a_refund_that_was_not_sent_within_its_grant_expires() {
    run(async {
        let app = quiet().await;
        let (order, refund) = waiting(app).await;
        app.edit(&refund.operation, |step| step.set("execute_until", past())).await;
        ends(app, &order, &refund, State::Expired, "it was not sent in time").await;
    });
}

#[test]
fn what_was_begun_to_be_sent_is_not_called_off_when_its_approval_is_revoked() {
    run(async {
        let app = quiet().await;
        let (order, refund) = attempted(app).await;
        revoke(app, &refund).await;
        needs_somebody(app, &order, &refund).await;
    });
}

#[test]
fn what_was_begun_to_be_sent_is_not_called_off_when_its_terms_move() {
    run(async {
        let app = quiet().await;
        let (order, refund) = attempted(app).await;
        move_terms(app, &order).await;
        needs_somebody(app, &order, &refund).await;
    });
}

#[test]
fn what_was_begun_to_be_sent_does_not_expire() {
    run(async {
        let app = quiet().await;
        let (order, refund) = attempted(app).await;
        app.edit(&refund.operation, |step| step.set("execute_until", past())).await;
        needs_somebody(app, &order, &refund).await;
    });
}

#[test]
fn a_hold_stops_what_is_queued_and_its_release_lets_it_go_on() {
    run(async {
        let app = App::quiet().await;
        let (order, refund) = waiting(&app).await;
        let (other_order, other) = attempted(&app).await;
        let unsubmitted = app.approved(&order, 1_000).await;
        app.switch("acme-operator", Turn::Held, "the bank called").await.unwrap();
        for refund in [&refund, &other] {
            app.insist(&refund.operation).await;
            app.until(&refund.operation, "queued").await;
        }
        assert_eq!((app.requests(&refund.proposal), app.requests(&other.proposal)), (0, 1));
        assert_eq!(app.balances(&order).await, (3_000, 2_000, 0));

        // Nor is anything accepted. Reading and deciding go on.
        let (agent, key) = (app.direct("acme-agent"), key());
        let refused = agent.call("submit_refund", submit(&unsubmitted, &key)).await;
        assert_eq!(code(&refused), "held", "{refused}");
        for order in [&order, &other_order] {
            assert_eq!(app.blocked(order).await, "all_refunds_held");
        }
        let prepared = app.prepared(&order, 500).await;
        app.decide("acme-approver", &prepared, Verdict::Rejection).await.unwrap();

        app.switch("acme-operator", Turn::Released, "the bank is back").await.unwrap();
        assert_eq!(app.blocked(&order).await, "none");
        app.edit(&refund.operation, |step| step.set("due_at", past())).await;
        app.gateway.sweep().await;
        app.until(&refund.operation, "succeeded").await;
        app.until(&other.operation, "succeeded").await;
        assert_eq!(app.balances(&other_order).await, (3_000, 0, 2_000));
        let accepted = agent.call("submit_refund", submit(&unsubmitted, &key)).await;
        assert_eq!(code(&accepted), "ok", "{accepted}");
        assert_eq!(app.balances(&order).await, (2_000, 1_000, 2_000));
        app.stop().await;
    });
}

#[test]
fn an_order_that_was_paid_at_another_tenant_s_account_is_not_refunded_from_it() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let key = Order::key(&Tenant::parse("acme").unwrap(), &order.id);
        app.commit(Change(vec![Step::update(key).set("account", "acct_globex")])).await;
        let refund = app.submitted(&order, 2_000).await;
        ends(app, &order, &refund, State::Cancelled, "the payment was taken at an account that is not the tenant's")
            .await;
    });
}
