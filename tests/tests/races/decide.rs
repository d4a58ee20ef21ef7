//! People who decide at once, and one who takes an approval back while it is being used.

use countersign::bounded::Currency;
use countersign::consent::Verdict;
use countersign::operation::State;
use futures::future::join;
use tests::app::{code, key, submit};
use tests::{App, rounds, run, shared};

#[test]
fn an_approval_and_a_rejection_at_once_are_one_decision() {
    run(async {
        let app = shared().await;
        rounds(50, async |_| {
            let order = app.order("acme", Currency::Eur, 1_000).await;
            let proposal = app.prepared(&order, 1_000).await;
            let (approved, rejected) = join(
                app.decide("acme-approver", &proposal, Verdict::Approval),
                app.decide("acme-junior", &proposal, Verdict::Rejection),
            )
            .await;
            assert_ne!(approved.is_ok(), rejected.is_ok(), "{approved:?} {rejected:?}");
            let submitted = app.direct("acme-agent").call("submit_refund", submit(&proposal, &key())).await;
            let expected = if approved.is_ok() { "ok" } else { "approval_rejected" };
            assert_eq!(code(&submitted), expected, "{submitted}");
            let refused = approved.err().or(rejected.err()).unwrap();
            assert_eq!(refused.code().as_str(), "already_decided");
        })
        .await;
    });
}

#[test]
fn a_revocation_stops_a_refund_or_comes_too_late_and_nothing_is_in_between() {
    run(async {
        let app = App::start().await;
        rounds(100, async |_| {
            let order = app.order("acme", Currency::Eur, 1_000).await;
            let proposal = app.approved(&order, 1_000).await;
            let (agent, key) = (app.direct("acme-agent"), key());
            let (submitted, revoked) = join(
                agent.call("submit_refund", submit(&proposal, &key)),
                app.gateway.approvals().revoke(app.persona("acme-approver"), &proposal),
            )
            .await;
            revoked.unwrap();
            if code(&submitted) != "ok" {
                assert_eq!(code(&submitted), "approval_revoked", "{submitted}");
                assert_eq!((app.balances(&order).await, app.requests(&proposal)), ((1_000, 0, 0), 0));
                return;
            }
            match app.settled(submitted["operation_id"].as_str().unwrap()).await.state {
                State::Succeeded => assert_eq!((app.balances(&order).await, app.effects(&order)), ((0, 0, 1_000), 1)),
                state => {
                    assert_eq!(state, State::Cancelled);
                    assert_eq!((app.balances(&order).await, app.requests(&proposal)), ((1_000, 0, 0), 0));
                }
            }
        })
        .await;
        app.stop().await;
    });
}

#[test]
fn a_revocation_while_the_worker_claims_stops_the_refund_before_it_is_sent_or_not_at_all() {
    run(async {
        let app = App::quiet().await;
        rounds(100, async |_| {
            let order = app.order("acme", Currency::Eur, 1_000).await;
            let refund = app.submitted(&order, 1_000).await;
            let (state, revoked) = join(
                app.deliver(&refund.operation),
                app.gateway.approvals().revoke(app.persona("acme-approver"), &refund.proposal),
            )
            .await;
            revoked.unwrap();
            let (balances, sent) = match state {
                State::Succeeded => ((0, 0, 1_000), 1),
                state => {
                    assert_eq!(state, State::Cancelled);
                    ((1_000, 0, 0), 0)
                }
            };
            app.deliver(&refund.operation).await;
            assert_eq!((app.balances(&order).await, app.requests(&refund.proposal)), (balances, sent));
        })
        .await;
        app.stop().await;
    });
}
