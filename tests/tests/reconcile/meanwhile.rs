//! What happens to an operation while the provider is being asked: what was seen before is not believed any more.

use countersign::bounded::{IntentId, Tenant};
use countersign::delivery::{Found, Provider, Resolution, Sent, Terms, Unsayable};
use countersign::operation::State;
use refunds::Refund;
use tests::run;

use crate::scene::{DAY, REFUNDED, RELEASED, Scene, TERMS, accepted, happened, nothing, undone};

/// What happens while the provider is being asked.
enum Meanwhile {
    /// Somebody else has asked, so many seconds after the start, and found this.
    Looked(u64, Found),
    /// A person decides that it came to nothing.
    Resolved,
}

/// A provider that takes its time.
struct Slow<'a> {
    scene: &'a Scene,
    meanwhile: Meanwhile,
    found: Found,
}

impl Provider<Refund> for Slow<'_> {
    const TERMS: Terms = TERMS;

    fn request(&self, _: &Tenant, intent: &IntentId, refund: &Refund) -> Result<String, Unsayable> {
        Ok(format!("refund {} of {intent}", refund.order_id))
    }

    async fn send(&self, _: &IntentId, _: &str, _: i64) -> Sent {
        panic!("nothing is sent here")
    }

    async fn look_up(&self, _: &IntentId, _: &str) -> Found {
        match &self.meanwhile {
            Meanwhile::Looked(second, found) => drop(self.scene.look(*second, found.clone()).await),
            Meanwhile::Resolved => {
                self.scene.resolve("acme-operator", Resolution::Failed).await.unwrap();
            }
        }
        self.found.clone()
    }
}

#[test]
fn of_two_lookups_that_cross_each_other_the_later_one_s_absence_is_not_made_an_earlier_one_s() {
    run(async {
        let scene = Scene::unknown().await;
        let slow = Slow { scene: &scene, meanwhile: Meanwhile::Looked(300, Found::Absent), found: Found::Absent };
        assert_eq!(scene.ask(200, &slow).await.state, State::Unknown);
        let operation = scene.operation().await;
        assert_eq!((operation.absent_since, operation.lookups), (Some(scene.at(300)), 2));
    });
}

#[test]
fn what_is_found_counts_against_what_a_person_decided_meanwhile() {
    run(async {
        let scene = Scene::sent(Sent::Refused("card_declined".to_owned())).await;
        assert!(scene.look(100, happened()).await.conflict);
        let slow = Slow { scene: &scene, meanwhile: Meanwhile::Resolved, found: accepted() };
        let outcome = scene.ask(200, &slow).await;
        assert_eq!((outcome.state, outcome.conflict), (State::Failed, true));
        assert!(scene.operation().await.conflict);
        assert_eq!((scene.balances().await, scene.order_now().await.conflicts), (RELEASED, 1));
    });
}

#[test]
fn whoever_saw_it_before_it_came_to_nothing_contradicts_nobody() {
    run(async {
        for before in [accepted(), happened()] {
            let scene = Scene::unknown().await;
            let slow = Slow { scene: &scene, meanwhile: Meanwhile::Looked(100, undone()), found: before };
            let outcome = scene.ask(100, &slow).await;
            assert_eq!((outcome.state, outcome.conflict), (State::Failed, false));
            assert_eq!((scene.balances().await, scene.order_now().await.conflicts), (RELEASED, 0));
            // Another effect of the same intent does.
            let another = scene.look(200, Found::Happened("re_2".to_owned())).await;
            assert!(another.conflict);
        }
    });
}

#[test]
fn what_is_found_meanwhile_is_not_written_over() {
    run(async {
        let scene = Scene::unknown().await;
        let slow = Slow { scene: &scene, meanwhile: Meanwhile::Looked(100, happened()), found: nothing() };
        assert_eq!(scene.ask(100, &slow).await.state, State::Succeeded);
        assert_eq!((scene.state().await, scene.balances().await), (State::Succeeded, REFUNDED));
    });
}

#[test]
fn lookups_and_operators_at_once_leave_one_truth_or_a_conflict_that_is_listed() {
    run(async {
        for round in 0..12_u64 {
            let scene = Scene::unknown().await;
            scene.look(DAY, nothing()).await;
            let said = async |resolution| scene.resolve("acme-operator", resolution).await;
            let look =
                async |second| scene.look(DAY + second, if second % 2 == 0 { happened() } else { accepted() }).await;
            let (one, other, ..) = tokio::join!(
                said(Resolution::Failed),
                said(Resolution::Succeeded),
                look(round % 2),
                look(round % 2 + 1),
                look(round % 2 + 2),
            );
            // Listed exactly where it waits, which the scene looks at.
            let (operation, order) = (scene.operation().await, scene.order_now().await);
            assert!(one.is_err() || other.is_err() || operation.resolution.as_ref().unwrap().lines().count() == 2);
            let expected = match operation.state {
                State::Succeeded => REFUNDED,
                State::Failed => RELEASED,
                state => panic!("{state}: {operation:?}"),
            };
            assert_eq!(scene.balances().await, expected);
            assert_eq!(order.conflicts, i64::from(operation.conflict), "{operation:?}");
        }
    });
}
