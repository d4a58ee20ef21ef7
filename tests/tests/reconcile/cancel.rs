//! Cancelling: in time it ends everything, too late it changes nothing, and there is no time between.

use countersign::delivery::{Claimed, Sent};
use countersign::operation::State;
use serde_json::{Value, json};
use tests::app::code;
use tests::run;

use crate::scene::{REFUNDED, RELEASED, RESERVED, Scene};

async fn cancel(scene: &Scene, persona: &str) -> Value {
    let arguments = json!({ "operation_id": scene.refund.operation });
    scene.app.direct(persona).call("cancel_refund", arguments).await
}

#[test]
fn in_time_it_releases_the_amount_and_is_never_sent_and_once_is_as_good_as_twice() {
    run(async {
        for persona in ["acme-agent", "acme-operator"] {
            let scene = Scene::queued().await;
            let first = cancel(&scene, persona).await;
            assert_eq!(first["state"], "cancelled", "{first}");
            assert_eq!(cancel(&scene, persona).await, first);
            assert_eq!(scene.balances().await, RELEASED);
            assert_eq!(scene.app.deliver(&scene.refund.operation).await, State::Cancelled);
            assert_eq!(scene.app.requests(&scene.refund.proposal), 0);
            let status = scene.app.until(&scene.refund.operation, "cancelled").await;
            assert_eq!(status["next_step"], first["next_step"]);
            assert!(status["reason"].as_str().unwrap().contains("cancelled it"), "{status}");
        }
    });
}

#[test]
fn once_it_was_begun_to_be_sent_it_is_too_late_whatever_came_of_it() {
    run(async {
        let text = || "why".to_owned();
        let outcomes = [
            (None, State::Sending, RESERVED),
            (Some(Sent::Unknown(text())), State::Unknown, RESERVED),
            (Some(Sent::NotExecuted(text())), State::Queued, RESERVED),
            (Some(Sent::Accepted(text())), State::Settling, RESERVED),
            (Some(Sent::Refused(text())), State::Failed, RELEASED),
            (Some(Sent::Happened(text())), State::Succeeded, REFUNDED),
        ];
        for (sent, state, balances) in outcomes {
            let (scene, ticket) = Scene::sending().await;
            if let Some(sent) = sent {
                scene.report(ticket, sent).await;
            }
            if state == State::Queued {
                // Here the picture has an arrow, for somebody to look; cancelling must not be the one who takes it.
                assert_eq!(scene.operation().await.attempts, 1);
            }
            for persona in ["acme-agent", "acme-operator"] {
                let refused = cancel(&scene, persona).await;
                assert_eq!(code(&refused), "too_late_to_cancel", "{state}: {refused}");
                assert_eq!(refused["error"]["operation_id"], scene.refund.operation.as_str());
            }
            assert_eq!((scene.state().await, scene.balances().await), (state, balances));
        }
    });
}

#[test]
fn it_is_the_requester_s_and_the_operator_s_of_the_tenant_alone() {
    run(async {
        let scene = Scene::queued().await;
        for (persona, expected) in [("globex-agent", "not_found"), ("acme-approver", "forbidden")] {
            assert_eq!(code(&cancel(&scene, persona).await), expected, "{persona}");
        }
        let mut stranger = scene.app.caller("acme-agent");
        stranger.principal = countersign::bounded::Principal::parse("acme-other").unwrap();
        let arguments = json!({ "operation_id": scene.refund.operation });
        let refused = scene.app.direct_as(stranger).call("cancel_refund", arguments).await;
        assert_eq!(code(&refused), "not_found");
        assert_eq!((scene.state().await, scene.balances().await), (State::Queued, RESERVED));
    });
}

#[test]
fn against_a_worker_either_wins_and_never_both() {
    run(async {
        for _ in 0..8 {
            let scene = Scene::queued().await;
            let (claimed, cancelled) = tokio::join!(scene.try_claim(0), cancel(&scene, "acme-agent"));
            let sent = matches!(claimed, Claimed::Ticket(_));
            assert_eq!(code(&cancelled), if sent { "too_late_to_cancel" } else { "ok" });
            let expected = if sent { (State::Sending, RESERVED) } else { (State::Cancelled, RELEASED) };
            assert_eq!((scene.state().await, scene.balances().await), expected);
        }
    });
}
