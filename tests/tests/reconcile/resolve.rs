//! An operator ends what no machine can find out: with evidence, once, and never for a wish of their own.

use countersign::bounded::OperationId;
use countersign::delivery::{Resolution, Resolve};
use countersign::failure::{Code, Retry};
use countersign::operation::State;
use refunds::Refund;
use tests::run;

use crate::scene::{DAY, REFUNDED, RELEASED, RESERVED, Scene, contradiction, happened, nothing};

async fn stuck() -> Scene {
    let scene = Scene::unknown().await;
    assert_eq!(scene.look(DAY, nothing()).await.state, State::NeedsOperator);
    scene
}

#[test]
fn an_operator_says_what_became_of_it_once() {
    run(async {
        for (resolution, state, balances) in
            [(Resolution::Succeeded, State::Succeeded, REFUNDED), (Resolution::Failed, State::Failed, RELEASED)]
        {
            let scene = stuck().await;
            let resolved = scene.resolve("acme-operator", resolution).await.unwrap();
            assert_eq!((resolved.state, scene.balances().await), (state, balances));
            let said = scene.operation().await.resolution.unwrap();
            assert!(said.ends_with(&format!("acme-operator says {resolution}: the dashboard shows re_1")), "{said}");
            // Whoever asks is not told that the provider refused what it never was asked for, as far as anybody knows.
            let advice = scene.operation().await.advice();
            assert_eq!(advice.contains("an operator"), resolution == Resolution::Failed, "{advice}");
            for again in [Resolution::Succeeded, Resolution::Failed] {
                let refused = scene.resolve("acme-operator", again).await.unwrap_err();
                assert_eq!((refused.code(), scene.balances().await), (Code::NOT_WAITING, balances));
            }
        }
    });
}

#[test]
fn two_operators_at_once_decide_once() {
    run(async {
        let scene = stuck().await;
        let (one, other) = tokio::join!(
            scene.resolve("acme-operator", Resolution::Succeeded),
            scene.resolve("acme-operator", Resolution::Failed)
        );
        assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
        let expected = if one.is_ok() { REFUNDED } else { RELEASED };
        assert_eq!(scene.balances().await, expected);
    });
}

#[test]
fn nobody_else_decides() {
    run(async {
        let scene = stuck().await;
        for (persona, expected) in
            [("acme-agent", Code::FORBIDDEN), ("acme-approver", Code::FORBIDDEN), ("globex-approver", Code::FORBIDDEN)]
        {
            let refused = scene.resolve(persona, Resolution::Failed).await.unwrap_err();
            assert_eq!(refused.code(), expected, "{persona}");
        }
        let operation = OperationId::parse(&scene.refund.operation).unwrap();
        let ledger = scene.app.gateway.ledger();
        let clock = &countersign::clock::Timestamp::now;
        // The requester, though an operator as well; an operator of another tenant; one whom somebody else vouches for.
        let mut own = scene.app.caller("acme-agent");
        own.roles = scene.app.caller("acme-operator").roles;
        let mut foreign = scene.app.caller("acme-operator");
        foreign.tenant = scene.app.caller("globex-agent").tenant;
        let mut elsewhere = scene.app.caller("acme-operator");
        elsewhere.issuer = countersign::bounded::Issuer::parse("https://elsewhere.example").unwrap();
        for (by, expected) in [(own, Code::FORBIDDEN), (foreign, Code::NOT_FOUND), (elsewhere, Code::FORBIDDEN)] {
            let resolve = Resolve::<Refund>::new(&by, operation.clone(), Resolution::Failed, "evidence").unwrap();
            let refused = countersign::command::execute(ledger, clock, &resolve).await.unwrap_err();
            assert_eq!(refused.code(), expected);
        }
        assert_eq!((scene.state().await, scene.balances().await), (State::NeedsOperator, RESERVED));
    });
}

#[test]
fn what_the_machine_is_still_at_or_has_finished_waits_for_nobody() {
    run(async {
        let unknown = Scene::unknown().await;
        let refused = unknown.resolve("acme-operator", Resolution::Failed).await.unwrap_err();
        assert_eq!((refused.code(), refused.retry()), (Code::NOT_WAITING, Retry::Later));
        unknown.look(1, happened()).await;
        let refused = unknown.resolve("acme-operator", Resolution::Failed).await.unwrap_err();
        assert_eq!((refused.code(), refused.retry()), (Code::NOT_WAITING, Retry::Never));
        let queued = Scene::queued().await;
        let refused = queued.resolve("acme-operator", Resolution::Failed).await.unwrap_err();
        assert_eq!((refused.code(), refused.retry()), (Code::NOT_WAITING, Retry::Later));
        assert_eq!(queued.balances().await, RESERVED);
    });
}

#[test]
fn evidence_is_something_to_read() {
    run(async {
        let scene = stuck().await;
        let by = scene.app.caller("acme-operator");
        let id = || OperationId::parse(&scene.refund.operation).unwrap();
        for bad in ["", "   ", "a\nb", "\u{0}", "a\u{2028}b", "a\u{202e}b", "a\u{200b}b", &"x".repeat(501)] {
            let refused = Resolve::<Refund>::new(&by, id(), Resolution::Failed, bad).unwrap_err();
            assert_eq!(refused.code(), Code::INVALID_INPUT, "{bad:?}");
        }
        for good in ["x", &"ü".repeat(500)] {
            assert!(Resolve::<Refund>::new(&by, id(), Resolution::Failed, good).is_ok());
        }
    });
}

#[test]
fn evidence_after_a_person_decided_otherwise_is_a_conflict() {
    run(async {
        let scene = stuck().await;
        scene.resolve("acme-operator", Resolution::Failed).await.unwrap();
        let outcome = scene.look(DAY + 1, happened()).await;
        assert_eq!((outcome.state, outcome.conflict), (State::Failed, true));

        let scene = stuck().await;
        scene.resolve("acme-operator", Resolution::Succeeded).await.unwrap();
        let outcome = scene.look(DAY + 1, contradiction()).await;
        assert_eq!((outcome.state, outcome.conflict), (State::Succeeded, true));
    });
}
