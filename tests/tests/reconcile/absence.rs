//! Absence: proved by two lookups, one lag apart, after the request can still have been on its way; and what follows.

use std::time::Duration;

use countersign::bounded::{IntentId, Tenant};
use countersign::delivery::{Claimed, Found, Provider, Sent, Terms, Unsayable};
use countersign::operation::State;
use refunds::Refund;
use tests::run;

use crate::scene::{DAY, REFUNDED, RESERVED, Says, Scene, TERMS, accepted, happened, nothing};

use Found::Absent;

#[test]
fn one_absence_is_no_proof_nor_are_two_too_soon() {
    run(async {
        let scene = Scene::unknown().await;
        // The worker's request may arrive until its lease has lapsed, ninety seconds after it began.
        for second in [10, 50, 90] {
            assert_eq!(scene.look(second, Absent).await.state, State::Unknown);
            assert_eq!(scene.operation().await.absent_since, None, "{second}");
        }
        assert_eq!(scene.look(92, Absent).await.state, State::Unknown);
        assert_eq!(scene.operation().await.absent_since, Some(scene.at(92)));
        assert_eq!(scene.look(151, Absent).await.state, State::Unknown);
        assert_eq!(scene.look(152, nothing()).await.state, State::Unknown);
        assert_eq!((scene.operation().await.attempts, scene.balances().await), (1, RESERVED));
        assert_eq!(scene.look(152, Absent).await.state, State::Queued);
        assert_eq!((scene.operation().await.attempts, scene.balances().await), (1, RESERVED));
    });
}

#[test]
fn what_shows_up_between_two_absences_was_there_all_along() {
    run(async {
        let scene = Scene::unknown().await;
        scene.look(92, Absent).await;
        assert_eq!(scene.look(140, happened()).await.state, State::Succeeded);
        assert_eq!(scene.look(160, Absent).await.state, State::Succeeded);
        assert_eq!(scene.balances().await, REFUNDED);
    });
}

#[test]
fn what_was_proved_absent_is_sent_again_with_the_same_bytes_three_times_at_most() {
    run(async {
        let scene = Scene::unknown().await;
        let first = scene.operation().await;
        let mut second = 0;
        for resend in 1..=3 {
            second += 92;
            assert_eq!(scene.look(second, Absent).await.state, State::Unknown, "{resend}");
            second += 60;
            assert_eq!(scene.look(second, Absent).await.state, State::Queued, "{resend}");
            let ticket = scene.claim(second).await;
            assert_eq!(Some(ticket.request.as_str()), first.request.as_deref());
            let operation = scene.operation().await;
            assert_eq!((operation.resends, operation.attempts, operation.absent_since), (resend, 1 + resend, None));
            assert_eq!(operation.first_sent_at, first.first_sent_at, "the window is counted from the first attempt");
            scene.report(ticket, Sent::Unknown("no reply".to_owned())).await;
        }
        scene.look(second + 92, Absent).await;
        assert_eq!(scene.look(second + 152, Absent).await.state, State::NeedsOperator);
        assert_eq!((scene.operation().await.attempts, scene.balances().await), (4, RESERVED));
    });
}

#[test]
fn what_is_absent_when_its_time_has_run_out_needs_a_person() {
    run(async {
        // After the hour within which it may be sent for the first time, and after the provider's window.
        for last in [3_601, DAY - 89, DAY] {
            let scene = Scene::unknown().await;
            scene.look(92, Absent).await;
            assert_eq!(scene.look(last, Absent).await.state, State::NeedsOperator, "{last}");
            assert_eq!(scene.balances().await, RESERVED);
        }
    });
}

#[test]
fn what_the_provider_had_accepted_is_not_absent_because_a_list_leaves_it_out() {
    run(async {
        let scene = Scene::unknown().await;
        scene.look(1, accepted()).await;
        for second in [92, 152, 1_000] {
            assert_eq!(scene.look(second, Absent).await.state, State::Settling);
        }
    });
}

#[test]
fn an_absence_that_was_seen_before_a_resend_proves_nothing_about_it() {
    run(async {
        let scene = Scene::unknown().await;
        scene.look(92, Absent).await;
        scene.look(152, Absent).await;
        let ticket = scene.claim(152).await;
        scene.report(ticket, Sent::Unknown("no reply".to_owned())).await;
        // Of lookups that began before the second request's lease ended, none counts.
        for second in [153, 215, 242] {
            assert_eq!(scene.look(second, Absent).await.state, State::Unknown);
            assert_eq!(scene.operation().await.absent_since, None, "{second}");
        }
    });
}

#[test]
fn a_request_that_would_arrive_after_the_window_is_not_sent_again() {
    run(async {
        let scene = Scene::sent(Sent::NotExecuted("429".to_owned())).await;
        scene.app.edit(&scene.refund.operation, |step| step.set("execute_until", scene.at(2 * DAY))).await;
        match scene.try_claim(DAY - 90).await {
            Claimed::Nothing(state) => assert_eq!(state, State::NeedsOperator),
            Claimed::Ticket(ticket) => panic!("{ticket:?}"),
        }
        assert_eq!(scene.balances().await, RESERVED);
    });
}

/// A provider of other terms.
struct Other<const LOOKUP: bool>;

impl<const LOOKUP: bool> Provider<Refund> for Other<LOOKUP> {
    const TERMS: Terms = Terms {
        duplicate_window: None,
        lookup_lag: if LOOKUP { TERMS.lookup_lag } else { None },
        compares_body: false,
    };

    fn request(&self, tenant: &Tenant, intent: &IntentId, refund: &Refund) -> Result<String, Unsayable> {
        Says(Absent).request(tenant, intent, refund)
    }

    async fn send(&self, _: &IntentId, _: &str, _: i64) -> Sent {
        panic!("nothing is sent here")
    }

    async fn look_up(&self, _: &IntentId, _: &str) -> Found {
        assert!(LOOKUP, "there is no lookup");
        Absent
    }
}

#[test]
fn at_a_provider_without_lookup_or_window_a_person_decides() {
    run(async {
        let scene = Scene::unknown().await;
        assert_eq!(scene.ask(1, &Other::<false>).await.state, State::NeedsOperator);

        let scene = Scene::unknown().await;
        let first = Duration::from_secs(92).as_secs();
        assert_eq!(scene.ask(first, &Other::<true>).await.state, State::Unknown);
        assert_eq!(scene.ask(first + 60, &Other::<true>).await.state, State::NeedsOperator);
        assert_eq!((scene.operation().await.attempts, scene.balances().await), (1, RESERVED));
    });
}
