//! Holds: who stopped a domain, who let it go on, and why, whatever happens at once.

use countersign::bounded::Remark;
use countersign::change::{Change, Snapshot, Step};
use countersign::clock::Timestamp;
use countersign::command::{Command as _, Decision, execute};
use countersign::effect::Effect as _;
use countersign::failure::Code;
use countersign::hold::{self, Holds, Switch, Turn};
use countersign::ledger::{Commit, Ledger as _};
use refunds::Refund;
use serde_json::json;
use tests::app::{code, key, submit};
use tests::{App, run};

async fn holds(app: &App) -> Holds {
    hold::holds(app.gateway.ledger(), Refund::COMMAND).await.unwrap()
}

fn told(holds: &Holds) -> Vec<(Turn, &str, &str)> {
    holds.switches.iter().map(|each| (each.turn, each.by.as_str(), each.reason.as_str())).collect()
}

#[test]
fn every_hold_and_every_release_stays_on_record_with_who_and_why() {
    run(async {
        let app = App::quiet().await;
        assert_eq!(holds(&app).await, Holds { held_at: None, reason: None, switches: Vec::new(), truncated: false });
        let not_held = app.switch("acme-operator", Turn::Released, "by mistake").await.unwrap_err();
        assert_eq!(not_held.code(), Code::NOT_HELD);
        let before = Timestamp::now();
        app.switch("acme-operator", Turn::Held, "the bank called").await.unwrap();
        let order = app.order("acme", countersign::bounded::Currency::Eur, 1_000).await;
        let proposal = app.approved(&order, 1_000).await;
        let used = key();
        let held = app.direct("acme-agent").call("submit_refund", submit(&proposal, &used)).await;
        assert_eq!(code(&held), "held", "{held}");
        let again = app.switch("acme-operator", Turn::Held, "another reason").await.unwrap_err();
        assert_eq!(again.code(), Code::HELD);
        assert!(again.message().contains("by acme-operator, because: the bank called"), "{again}");
        let now = holds(&app).await;
        assert!(now.held_at.is_some_and(|at| at >= before), "{now:?}");
        assert_eq!(now.reason.as_deref(), Some("the bank called"));
        assert_eq!(now.switches[0].by_tenant, "acme");

        app.switch("acme-operator", Turn::Released, "it was a mistake of theirs").await.unwrap();
        let submitted = app.direct("acme-agent").call("submit_refund", submit(&proposal, &used)).await;
        assert_eq!(code(&submitted), "ok", "{submitted}");
        app.switch("acme-operator", Turn::Held, "they called again").await.unwrap();
        let now = holds(&app).await;
        let expected = [
            (Turn::Held, "acme-operator", "they called again"),
            (Turn::Released, "acme-operator", "it was a mistake of theirs"),
            (Turn::Held, "acme-operator", "the bank called"),
        ];
        assert_eq!((&told(&now)[..], now.truncated), (&expected[..], false));
        app.stop().await;
    });
}

#[test]
fn nobody_holds_or_releases_without_the_role() {
    run(async {
        let app = App::quiet().await;
        for persona in ["acme-agent", "acme-approver", "globex-approver"] {
            let refused = app.switch(persona, Turn::Held, "for fun").await.unwrap_err();
            assert_eq!(refused.code(), Code::FORBIDDEN, "{persona}");
        }
        app.switch("acme-operator", Turn::Held, "the bank called").await.unwrap();
        let refused = app.switch("acme-approver", Turn::Released, "for fun").await.unwrap_err();
        assert_eq!(refused.code(), Code::FORBIDDEN);
        assert_eq!(told(&holds(&app).await).len(), 1);
        app.stop().await;
    });
}

#[test]
fn of_two_at_once_one_switches_and_the_other_is_told_by_whom_and_nothing_is_lost() {
    run(async {
        let app = App::quiet().await;
        let mut expected = Vec::new();
        for round in 0..8 {
            for turn in [Turn::Held, Turn::Released] {
                let words = [format!("one, {round}"), format!("other, {round}")];
                let both = words.each_ref().map(|why| app.switch("acme-operator", turn, why));
                let [one, other] = both;
                let (one, other) = tokio::join!(one, other);
                assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
                expected.insert(0, (turn, words[usize::from(other.is_ok())].clone()));
                let refused = one.err().or(other.err()).unwrap();
                let code = if turn == Turn::Held { Code::HELD } else { Code::NOT_HELD };
                assert_eq!(refused.code(), code);
            }
        }
        let now = holds(&app).await;
        let seen: Vec<_> = now.switches.iter().map(|each| (each.turn, each.reason.clone())).collect();
        assert_eq!(seen, expected);
        for _ in 0..3 {
            app.switch("acme-operator", Turn::Held, "once more").await.unwrap();
            app.switch("acme-operator", Turn::Released, "once more").await.unwrap();
        }
        let now = holds(&app).await;
        assert_eq!((now.switches.len(), now.truncated), (20, true));
        app.stop().await;
    });
}

#[test]
fn a_hold_that_was_written_by_hand_can_be_released_and_one_that_was_changed_meanwhile_is_looked_at_again() {
    run(async {
        let app = App::quiet().await;
        let control = hold::key(Refund::COMMAND).unwrap();
        app.put(&control, tests::people::hold("a restored ledger")).await;
        let now = holds(&app).await;
        assert_eq!((now.held_at.is_some(), now.reason.as_deref()), (true, Some("a restored ledger")));
        let refused = app.switch("acme-operator", Turn::Held, "another").await.unwrap_err();
        assert!(refused.message().contains("because: a restored ledger"), "{refused}");
        app.switch("acme-operator", Turn::Released, "reconciled").await.unwrap();
        assert_eq!(holds(&app).await.held_at, None);
        // Whatever is written there, it holds, and no longer than anybody wants.
        app.commit(Change(vec![Step::update(control.clone()).set("held_at", "noon")])).await;
        let refused = app.switch("acme-operator", Turn::Held, "another").await.unwrap_err();
        assert!(refused.message().starts_with("refunds are held already by"), "{refused}");
        app.switch("acme-operator", Turn::Released, "it is one").await.unwrap();
        assert_eq!(holds(&app).await.held_at, None);
        // Of one that was written by hand over another, what is on record stays.
        app.commit(Change(vec![Step::update(control).set("held_at", Timestamp::now()).set("reason", "by hand")])).await;
        app.switch("acme-operator", Turn::Released, "by command").await.unwrap();
        assert_eq!(told(&holds(&app).await).len(), 3);
        app.stop().await;
    });
}

#[test]
fn a_switch_that_was_written_and_undone_by_another_before_it_was_heard_of_has_happened_all_the_same() {
    run(async {
        let app = App::quiet().await;
        let (ledger, by) = (app.gateway.ledger(), app.caller("acme-operator"));
        let why = Remark::parse("the bank called").unwrap();
        let switch = Switch::new(&by, Refund::COMMAND, Turn::Held, why).unwrap();
        let change = match switch.decide(&Snapshot::default(), Timestamp::now()).unwrap() {
            Decision::Commit(change, ()) => change,
            other => panic!("nothing is written: {other:?}"),
        };
        app.commit(change).await;
        app.switch("acme-operator", Turn::Released, "it was a mistake").await.unwrap();
        execute(ledger, &Timestamp::now, &switch).await.unwrap();
        let now = holds(&app).await;
        assert_eq!((now.held_at, told(&now).len()), (None, 2), "it is not held once more");
        app.stop().await;
    });
}

#[test]
fn a_history_that_somebody_has_broken_is_told_as_far_as_it_leads() {
    run(async {
        let app = App::quiet().await;
        for turn in [Turn::Held, Turn::Released, Turn::Held] {
            app.switch("acme-operator", turn, "the bank called").await.unwrap();
        }
        let control = hold::key(Refund::COMMAND).unwrap();
        let records = app.records_about(&["control"]).await;
        let of = |nonce: &str| format!("{}#{nonce}", control.pk());
        let last = app.item(&control).await.unwrap().text("last").unwrap().to_owned();
        let previous = |nonce: &str| records[&of(nonce)]["previous"]["S"].as_str().map(str::to_owned);
        let second = previous(&last).unwrap();
        let first = previous(&second).unwrap();
        let update = |nonce: &str, previous: &str| {
            json!({
                "TableName": "ledger", "Key": { "pk": { "S": of(nonce) } }, "UpdateExpression": "SET previous = :v",
                "ExpressionAttributeValues": { ":v": { "S": previous } },
            })
        };
        // One that leads nowhere hides what was before it; one that leads back is told as often as any.
        app.database("UpdateItem", &update(&second, &"a".repeat(first.len()))).await;
        let now = holds(&app).await;
        assert_eq!((told(&now).len(), now.truncated, now.held_at.is_some()), (2, true, true));
        app.database("UpdateItem", &update(&second, &last)).await;
        let now = holds(&app).await;
        assert_eq!((told(&now).len(), now.truncated), (20, true));
        app.stop().await;
    });
}

/// What a switch would write, by what was seen.
fn written(app: &App, turn: Turn, seen: &Snapshot, now: Timestamp) -> Change {
    let by = app.caller("acme-operator");
    let switch = Switch::new(&by, Refund::COMMAND, turn, Remark::parse("the bank called").unwrap()).unwrap();
    match switch.decide(seen, now).unwrap() {
        Decision::Commit(change, ()) => change,
        other => panic!("nothing is written: {other:?}"),
    }
}

#[test]
fn a_switch_is_not_written_over_another_that_it_has_not_seen() {
    run(async {
        let app = App::quiet().await;
        let (ledger, now) = (app.gateway.ledger(), Timestamp::now());
        let control = hold::key(Refund::COMMAND).unwrap();
        let look = async || ledger.load(std::slice::from_ref(&control)).await.unwrap();
        for turn in [Turn::Held, Turn::Released, Turn::Held] {
            let seen = look().await;
            let [one, other] = [0, 1].map(|_| written(&app, turn, &seen, now));
            assert_eq!(ledger.commit(&one).await.unwrap(), Commit::Done);
            assert!(matches!(ledger.commit(&other).await.unwrap(), Commit::Lost(_)), "{turn}");
        }
        // Released and held again within the same second.
        let held = look().await;
        for turn in [Turn::Released, Turn::Held] {
            app.commit(written(&app, turn, &look().await, now)).await;
        }
        let release = written(&app, Turn::Released, &held, now);
        assert!(matches!(ledger.commit(&release).await.unwrap(), Commit::Lost(_)));
        // By hand.
        let held = look().await;
        app.commit(Change(vec![Step::update(control.clone()).remove("held_at")])).await;
        let release = written(&app, Turn::Released, &held, now);
        assert!(matches!(ledger.commit(&release).await.unwrap(), Commit::Lost(_)));
        let released = look().await;
        app.commit(Change(vec![Step::update(control.clone()).set("held_at", now)])).await;
        let hold = written(&app, Turn::Held, &released, now);
        assert!(matches!(ledger.commit(&hold).await.unwrap(), Commit::Lost(_)));
        assert_eq!(told(&holds(&app).await).len(), 5);
        app.stop().await;
    });
}
