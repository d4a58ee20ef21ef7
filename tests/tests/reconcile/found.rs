//! What is found at the provider settles what was not known; what proves nothing changes nothing.

use countersign::delivery::{Claimed, Found, Sent};
use countersign::operation::State;
use tests::run;

use crate::scene::{DAY, REFUNDED, RELEASED, RESERVED, Scene, accepted, contradiction, happened, nothing, undone};

#[test]
fn a_refund_that_is_found_has_succeeded_and_is_booked_once() {
    run(async {
        let scene = Scene::unknown().await;
        assert_eq!(scene.look(1, happened()).await.state, State::Succeeded);
        assert_eq!(scene.look(2, happened()).await.state, State::Succeeded);
        let operation = scene.operation().await;
        assert_eq!((operation.reference.as_deref(), operation.reason, operation.due_at), (Some("re_1"), None, None));
        assert_eq!(scene.balances().await, REFUNDED);
    });
}

#[test]
fn one_that_is_found_and_not_final_settles_until_it_is() {
    run(async {
        for (end, state, balances) in [(happened(), State::Succeeded, REFUNDED), (undone(), State::Failed, RELEASED)] {
            let scene = Scene::unknown().await;
            assert_eq!(scene.look(1, accepted()).await.state, State::Settling);
            assert_eq!(scene.look(2, accepted()).await.state, State::Settling);
            assert_eq!(scene.balances().await, RESERVED);
            assert_eq!(scene.look(3, end).await.state, state);
            assert_eq!(scene.balances().await, balances);
        }
    });
}

#[test]
fn one_that_came_to_nothing_has_failed_and_its_amount_is_refundable_again() {
    run(async {
        let scene = Scene::unknown().await;
        assert_eq!(scene.look(1, undone()).await.state, State::Failed);
        let operation = scene.operation().await;
        assert_eq!(operation.reason.as_deref(), Some("expired_or_canceled_card"));
        assert_eq!(scene.balances().await, RELEASED);
    });
}

#[test]
fn one_that_had_succeeded_and_came_back_is_returned_and_its_amount_is_refundable_again() {
    run(async {
        let scene = Scene::sent(Sent::Happened("re_1".to_owned())).await;
        assert_eq!(scene.balances().await, REFUNDED);
        for _ in 0..2 {
            let outcome = scene.look(DAY, undone()).await;
            assert_eq!((outcome.state, outcome.conflict), (State::Returned, false));
            assert_eq!(scene.balances().await, RELEASED);
        }
    });
}

#[test]
fn what_proves_nothing_leaves_it_unknown_and_is_asked_again_ever_more_rarely() {
    run(async {
        let scene = Scene::unknown().await;
        let mut waits = Vec::new();
        let mut second = 100;
        for _ in 0..9 {
            assert_eq!(scene.look(second, nothing()).await.state, State::Unknown);
            let due = scene.operation().await.due_at.unwrap();
            let wait = u64::try_from(due.seconds() - scene.at(second).seconds()).unwrap();
            waits.push(wait);
            second += wait;
        }
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 600, 600]);
        assert_eq!(scene.balances().await, RESERVED);
        // Beyond the window in which a repeat would be recognized, only a person can tell.
        assert_eq!(scene.look(DAY - 1, nothing()).await.state, State::Unknown);
        assert_eq!(scene.look(DAY, nothing()).await.state, State::NeedsOperator);
        assert_eq!((scene.operation().await.due_at, scene.balances().await), (None, RESERVED));
    });
}

#[test]
fn what_settles_is_waited_for_as_long_as_banks_take_and_then_a_person_looks() {
    run(async {
        let scene = Scene::sent(Sent::Accepted("re_1".to_owned())).await;
        for proof in [nothing(), accepted(), Found::Absent] {
            assert_eq!(scene.look(45 * DAY - 1, proof).await.state, State::Settling);
        }
        assert_eq!(scene.look(45 * DAY, accepted()).await.state, State::NeedsOperator);
        assert_eq!(scene.balances().await, RESERVED);
        // And evidence that comes after all still counts.
        assert_eq!(scene.look(46 * DAY, happened()).await.state, State::Succeeded);
        assert_eq!(scene.balances().await, REFUNDED);
    });
}

#[test]
fn what_contradicts_the_request_needs_a_person_and_releases_nothing() {
    run(async {
        for state in [State::Unknown, State::Settling] {
            let scene = Scene::unknown().await;
            if state == State::Settling {
                scene.look(1, accepted()).await;
            }
            assert_eq!(scene.look(2, contradiction()).await.state, State::NeedsOperator);
            assert!(scene.operation().await.reason.unwrap().contains("two refunds"));
            assert_eq!(scene.balances().await, RESERVED);
        }
    });
}

#[test]
fn of_what_is_being_sent_nobody_asks_until_its_lease_has_lapsed() {
    run(async {
        let (scene, ticket) = Scene::sending().await;
        for proof in [undone(), contradiction(), Found::Absent, happened()] {
            assert_eq!(scene.look(89, proof).await.state, State::Sending);
        }
        // Later, a success counts at once; anything else waits until the dead worker was noticed.
        for proof in [undone(), contradiction(), Found::Absent, nothing()] {
            assert_eq!(scene.look(91, proof).await.state, State::Sending);
        }
        assert_eq!(scene.look(91, happened()).await.state, State::Succeeded);
        scene.report(ticket, Sent::Refused("late".to_owned())).await;
        assert_eq!((scene.state().await, scene.balances().await), (State::Succeeded, REFUNDED));
    });
}

#[test]
fn what_a_restored_ledger_has_forgotten_to_have_sent_is_found_and_not_sent_again() {
    run(async {
        for (found, state, balances) in [
            (happened(), State::Succeeded, REFUNDED),
            (accepted(), State::Settling, RESERVED),
            (contradiction(), State::NeedsOperator, RESERVED),
        ] {
            let scene = Scene::queued().await;
            for proves_nothing in [Found::Absent, nothing()] {
                assert_eq!(scene.look(1, proves_nothing).await.state, State::Queued);
            }
            assert_eq!(scene.look(2, found).await.state, state);
            assert_eq!(scene.balances().await, balances);
            assert!(matches!(scene.try_claim(3).await, Claimed::Nothing(stays) if stays == state));
        }
    });
}
