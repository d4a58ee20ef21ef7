//! Conflicts: evidence against how an operation ended stops its order until a person has put it right.

use countersign::delivery::{Resolution, Sent};
use countersign::failure::Code;
use countersign::operation::State;
use tests::app::{code, key, prepare, submit};
use tests::run;

use crate::scene::{REFUNDED, RELEASED, Scene, accepted, contradiction, happened, undone};

/// One that was refused, and is there after all.
async fn refused_and_there() -> Scene {
    let scene = Scene::sent(Sent::Refused("card_declined".to_owned())).await;
    assert_eq!(scene.balances().await, RELEASED);
    for _ in 0..2 {
        let outcome = scene.look(100, happened()).await;
        assert_eq!((outcome.state, outcome.conflict), (State::Failed, true));
    }
    assert_eq!((scene.balances().await, scene.order_now().await.conflicts), (RELEASED, 1));
    scene
}

#[test]
fn nothing_more_of_the_order_is_prepared_submitted_or_sent() {
    run(async {
        let scene = Scene::sent(Sent::Refused("card_declined".to_owned())).await;
        let app = scene.app;
        let approved = app.approved(&scene.order, 700).await;
        let waiting = app.submitted(&scene.order, 800).await;
        assert_eq!(app.blocked(&scene.order).await, "none");
        scene.look(100, happened()).await;
        assert_eq!(app.blocked(&scene.order).await, "order_in_conflict");
        let other = app.order("acme", scene.order.currency, 1_000).await;
        assert_eq!(app.blocked(&other).await, "none");

        let agent = app.direct("acme-agent");
        let prepared = agent.call("prepare_refund", prepare(&scene.order, 900)).await;
        assert_eq!(code(&prepared), "held", "{prepared}");
        let submitted = agent.call("submit_refund", submit(&approved, &key())).await;
        assert_eq!(code(&submitted), "held", "{submitted}");
        assert_eq!(app.deliver(&waiting.operation).await, State::Queued);
        assert_eq!(app.requests(&waiting.proposal), 0);
        let status = app.until(&scene.refund.operation, "failed").await;
        assert!(status["next_step"].as_str().unwrap().contains("contradicts"), "{status}");

        scene.resolve("acme-operator", Resolution::Failed).await.unwrap();
        assert_eq!(app.blocked(&scene.order).await, "none");
        assert_eq!(app.deliver(&waiting.operation).await, State::Succeeded);
    });
}

#[test]
fn a_person_books_what_happened_and_the_order_moves_again() {
    run(async {
        let scene = refused_and_there().await;
        let resolved = scene.resolve("acme-operator", Resolution::Succeeded).await.unwrap();
        assert_eq!((resolved.state, resolved.conflict), (State::Succeeded, false));
        assert_eq!((scene.balances().await, scene.order_now().await.conflicts), (REFUNDED, 0));
        let again = scene.resolve("acme-operator", Resolution::Succeeded).await.unwrap_err();
        assert_eq!(again.code(), Code::NOT_WAITING);
    });
}

#[test]
fn a_person_finds_that_nothing_happened_and_the_order_moves_again() {
    run(async {
        let scene = refused_and_there().await;
        let resolved = scene.resolve("acme-operator", Resolution::Failed).await.unwrap();
        assert_eq!((resolved.state, resolved.conflict), (State::Failed, false));
        assert_eq!((scene.balances().await, scene.order_now().await.conflicts), (RELEASED, 0));
        // Evidence that comes again is a conflict again, and both decisions stay on record.
        assert!(scene.look(200, accepted()).await.conflict);
        let resolved = scene.resolve("acme-operator", Resolution::Succeeded).await.unwrap();
        let said = resolved.resolution.unwrap();
        assert_eq!(said.lines().count(), 2, "{said}");
        assert!(said.contains("acme-operator says failed: the dashboard shows re_1"), "{said}");
    });
}

#[test]
fn what_happened_is_not_booked_where_the_order_has_no_room_for_it() {
    run(async {
        let scene = Scene::sent(Sent::Refused("card_declined".to_owned())).await;
        let other = scene.app.submitted(&scene.order, 4_000).await;
        scene.look(100, happened()).await;
        let refused = scene.resolve("acme-operator", Resolution::Succeeded).await.unwrap_err();
        assert_eq!(refused.code().as_str(), "exceeds_refundable", "{refused}");
        assert!(scene.operation().await.conflict);
        assert_eq!((scene.balances().await, scene.order_now().await.conflicts), ((1_000, 4_000, 0), 1));
        drop(other);
    });
}

#[test]
fn a_success_that_is_contradicted_is_marked_and_a_person_says_whether_it_came_back() {
    run(async {
        for (resolution, state, balances) in
            [(Resolution::Succeeded, State::Succeeded, REFUNDED), (Resolution::Failed, State::Returned, RELEASED)]
        {
            let scene = Scene::sent(Sent::Happened("re_1".to_owned())).await;
            let outcome = scene.look(100, contradiction()).await;
            assert_eq!((outcome.state, outcome.conflict), (State::Succeeded, true));
            assert_eq!((scene.balances().await, scene.order_now().await.conflicts), (REFUNDED, 1));
            assert_eq!(scene.resolve("acme-operator", resolution).await.unwrap().state, state);
            assert_eq!((scene.balances().await, scene.order_now().await.conflicts), (balances, 0));
        }
    });
}

#[test]
fn what_had_come_back_and_is_contradicted_is_booked_where_a_person_finds_that_it_happened() {
    run(async {
        for (resolution, state, balances) in
            [(Resolution::Succeeded, State::Succeeded, REFUNDED), (Resolution::Failed, State::Returned, RELEASED)]
        {
            let scene = Scene::sent(Sent::Happened("re_1".to_owned())).await;
            assert_eq!(scene.look(100, undone()).await.state, State::Returned);
            let outcome = scene.look(200, contradiction()).await;
            assert_eq!((outcome.state, outcome.conflict), (State::Returned, true));
            assert_eq!(scene.resolve("acme-operator", resolution).await.unwrap().state, state);
            assert_eq!((scene.balances().await, scene.order_now().await.conflicts), (balances, 0));
        }
    });
}

#[test]
fn what_was_cancelled_or_ran_out_of_time_and_is_there_is_in_conflict() {
    run(async {
        let scene = Scene::queued().await;
        let answer = scene
            .app
            .direct("acme-agent")
            .call("cancel_refund", serde_json::json!({ "operation_id": scene.refund.operation }))
            .await;
        assert_eq!(answer["state"], "cancelled", "{answer}");
        let outcome = scene.look(100, accepted()).await;
        assert_eq!((outcome.state, outcome.conflict), (State::Cancelled, true));
        let again = serde_json::json!({ "operation_id": scene.refund.operation });
        let again = scene.app.direct("acme-agent").call("cancel_refund", again).await;
        assert_eq!(code(&again), "too_late_to_cancel", "{again}");

        let scene = Scene::queued().await;
        scene.try_claim(3_601).await;
        assert_eq!(scene.state().await, State::Expired);
        let outcome = scene.look(3_700, happened()).await;
        assert_eq!((outcome.state, outcome.conflict), (State::Expired, true));
    });
}

#[test]
fn a_first_answer_that_the_provider_repeats_is_no_conflict_with_what_became_of_it() {
    run(async {
        for answer in [Sent::Happened("re_1".to_owned()), Sent::Accepted("re_1".to_owned())] {
            let (scene, ticket) = Scene::sending().await;
            let late =
                countersign::delivery::Ticket { operation: ticket.operation.clone(), request: ticket.request.clone() };
            scene.report(ticket, Sent::Unknown("no reply".to_owned())).await;
            assert_eq!(scene.look(100, undone()).await.state, State::Failed);
            let outcome = scene.report(late, answer).await;
            assert_eq!((outcome.state, outcome.conflict), (State::Failed, false));
            assert_eq!((scene.balances().await, scene.order_now().await.conflicts), (RELEASED, 0));
        }
    });
}
