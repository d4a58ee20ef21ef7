//! Decisions of people: who may make them, about what, and for how long they count.

use countersign::bounded::{Actor, Client, Currency};
use countersign::change::{Change, Step};
use countersign::clock::Timestamp;
use countersign::consent::Verdict;
use countersign::digest::Digest;
use tests::app::{code, key, submit};
use tests::people::{authority, authority_key, consent_key, minutes_ago};
use tests::{run, shared};

use crate::case::Case;

#[test]
fn nobody_decides_about_a_proposal_of_their_own_under_any_name_it_was_made_with() {
    run(async {
        let case = Case::new(shared().await).await;
        let proposal = case.prepared(1_000).await;
        let names = [
            Some(case.by.principal.as_str()),
            case.by.actor.as_ref().map(Actor::as_str),
            case.by.client.as_ref().map(Client::as_str),
        ];
        for name in names.map(Option::unwrap) {
            case.app.put(&authority_key("acme", name), authority(50_000)).await;
            for verdict in [Verdict::Approval, Verdict::Rejection] {
                let person = case.app.person("acme", name);
                let refused = case.app.decide_as(&person, &proposal, verdict).await.unwrap_err();
                assert_eq!(refused.code().as_str(), "forbidden", "{name}: {refused}");
            }
        }
        assert_eq!(case.app.item(&consent_key("acme", &proposal)).await, None);
        assert_eq!(case.submission_refused(&proposal).await["code"], "approval_required");
    });
}

#[test]
fn nobody_decides_without_the_role_the_authority_and_the_requester_s_issuer() {
    run(async {
        let case = Case::new(shared().await).await;
        let proposal = case.prepared(1_000).await;
        let mut no_role = case.approver.clone();
        no_role.0.roles.clear();
        let mut other_issuer = case.approver.clone();
        other_issuer.0.issuer = countersign::bounded::Issuer::parse("https://issuer.example").unwrap();
        let no_authority = case.app.person("acme", "approver-without-authority");
        for person in [no_role, other_issuer, no_authority] {
            let refused = case.app.decide_as(&person, &proposal, Verdict::Approval).await.unwrap_err();
            assert_eq!(refused.code().as_str(), "forbidden", "{person:?}: {refused}");
        }
        assert_eq!(case.app.item(&consent_key("acme", &proposal)).await, None);
        case.decide(&proposal, Verdict::Approval).await;
    });
}

#[test]
fn a_person_approves_up_to_their_limit_and_may_reject_beyond_it() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 10_000).await;
        let (within, beyond) = (app.prepared(&order, 2_000).await, app.prepared(&order, 2_001).await);
        app.decide("acme-junior", &within, Verdict::Approval).await.unwrap();
        let refused = app.decide("acme-junior", &beyond, Verdict::Approval).await.unwrap_err();
        assert_eq!(refused.code().as_str(), "limit_exceeded");
        assert_eq!(app.item(&consent_key("acme", &beyond)).await, None);
        let agent = app.caller("acme-agent");
        let about = [order.id.as_str(), beyond.as_str()];
        let refusal = app.refused(&agent, "submit_refund", submit(&beyond, &key()), &about).await;
        assert_eq!(refusal["code"], "approval_required");
        app.decide("acme-junior", &beyond, Verdict::Rejection).await.unwrap();
    });
}

#[test]
fn a_proposal_of_another_tenant_is_not_there_to_be_decided() {
    run(async {
        let case = Case::new(shared().await).await;
        let proposal = case.prepared(1_000).await;
        let shown = case.app.proposal("acme", &proposal).await.digest;
        let stranger = case.app.approver("globex", 50_000).await;
        for verdict in [Verdict::Approval, Verdict::Rejection] {
            let refused =
                case.app.decide_shown(&stranger, &proposal, shown, verdict, Timestamp::now()).await.unwrap_err();
            assert_eq!(refused.code().as_str(), "not_found", "{refused}");
        }
        let persona = case.app.persona("globex-approver");
        assert_eq!(
            case.app.gateway.approvals().show(persona, &proposal).await.unwrap_err().code().as_str(),
            "not_found"
        );
        let revoked = case.app.gateway.approvals().revoke(persona, &proposal).await.unwrap_err();
        assert_eq!(revoked.code().as_str(), "not_found");
    });
}

#[test]
fn an_approval_of_another_proposal_with_equal_terms_does_not_count_for_this_one() {
    run(async {
        let app = shared().await;
        let (one, mut other) = (Case::new(app).await, Case::new(app).await);
        other.order = one.order.clone();
        let (approved, proposal) = (one.approved(1_000).await, other.prepared(1_000).await);
        let terms = |proposal| async move { app.proposal("acme", proposal).await.effect };
        assert_eq!(terms(&approved).await, terms(&proposal).await);
        assert_eq!(other.submission_refused(&proposal).await["code"], "approval_required");
        let approval = app.item(&consent_key("acme", &approved)).await.unwrap();
        app.put(&consent_key("acme", &proposal), approval).await;
        assert_eq!(other.submission_refused(&proposal).await["code"], "approval_mismatch");
    });
}

#[test]
fn a_person_decides_about_what_they_were_shown_and_nothing_else() {
    run(async {
        let case = Case::new(shared().await).await;
        let proposal = case.prepared(1_000).await;
        let shown = Digest::of_bytes(b"what a model wrote about it");
        for verdict in [Verdict::Approval, Verdict::Rejection] {
            let decided = case.app.decide_shown(&case.approver, &proposal, shown, verdict, Timestamp::now()).await;
            assert_eq!(decided.unwrap_err().code().as_str(), "approval_mismatch");
        }
        assert_eq!(case.app.item(&consent_key("acme", &proposal)).await, None);
    });
}

#[test]
fn a_second_decision_is_refused_whatever_the_first_one_was_and_whoever_makes_it() {
    run(async {
        let app = shared().await;
        for first in [Verdict::Approval, Verdict::Rejection] {
            let case = Case::new(app).await;
            let proposal = case.prepared(1_000).await;
            case.decide(&proposal, first).await;
            let before = app.item(&consent_key("acme", &proposal)).await;
            let other = app.approver("acme", 50_000).await;
            for (person, verdict) in
                [(&case.approver, Verdict::Approval), (&case.approver, Verdict::Rejection), (&other, Verdict::Approval)]
            {
                let refused = app.decide_as(person, &proposal, verdict).await.unwrap_err();
                assert_eq!(refused.code().as_str(), "already_decided", "{first} then {verdict}: {refused}");
            }
            assert_eq!(app.item(&consent_key("acme", &proposal)).await, before);
        }
    });
}

#[test]
fn a_rejected_proposal_stays_rejected_even_once_the_rejection_is_as_old_as_an_approval_lives() {
    run(async {
        let case = Case::new(shared().await).await;
        let intent = case.app.prepared_at(&case.by, &case.order, 1_000, minutes_ago(20)).await;
        let proposal = intent.id.as_str();
        case.app.decide_at(&case.approver, proposal, Verdict::Rejection, minutes_ago(19)).await.unwrap();
        assert_eq!(case.submission_refused(proposal).await["code"], "approval_rejected");
        let again = case.app.decide_as(&case.approver, proposal, Verdict::Approval).await.unwrap_err();
        assert_eq!(again.code().as_str(), "already_decided");
        assert_eq!(case.submission_refused(proposal).await["code"], "approval_rejected");
    });
}

#[test]
fn a_lapsed_approval_can_be_given_again_and_the_same_key_then_works() {
    run(async {
        let case = Case::new(shared().await).await;
        let intent = case.app.prepared_at(&case.by, &case.order, 1_000, minutes_ago(20)).await;
        let (proposal, key) = (intent.id.as_str(), key());
        case.app.decide_at(&case.approver, proposal, Verdict::Approval, minutes_ago(15)).await.unwrap();
        let refusal = case.refused("submit_refund", submit(proposal, &key), &[proposal]).await;
        assert_eq!(refusal["code"], "approval_expired");
        let decided = case.app.decide_as(&case.approver, proposal, Verdict::Approval).await.unwrap();
        assert_eq!(decided.statement.expires_at, intent.expires_at.seconds(), "no longer than its proposal");
        case.succeeded(proposal, &key).await;
    });
}

#[test]
fn an_approval_that_was_taken_back_permits_nothing_and_cannot_be_given_again() {
    run(async {
        let case = Case::new(shared().await).await;
        let proposal = case.approved(1_000).await;
        case.app.gateway.approvals().revoke(case.app.persona("acme-approver"), &proposal).await.unwrap();
        assert_eq!(case.submission_refused(&proposal).await["code"], "approval_revoked");
        let again = case.app.decide_as(&case.approver, &proposal, Verdict::Approval).await.unwrap_err();
        assert_eq!(again.code().as_str(), "already_decided");
        assert_eq!(case.submission_refused(&proposal).await["code"], "approval_revoked");
    });
}

#[test]
fn an_approval_counts_no_longer_than_its_approver_s_authority() {
    run(async {
        let app = shared().await;
        for withdrawal in ["inactive", "lowered", "other currency", "deleted"] {
            let case = Case::new(app).await;
            let (proposal, key) = (case.approved(1_001).await, key());
            let at = authority_key("acme", case.approver.0.principal.as_str());
            match withdrawal {
                "inactive" => app.commit(Change(vec![Step::update(at.clone()).set("active", false)])).await,
                "lowered" => app.put(&at, authority(1_000)).await,
                "other currency" => app.commit(Change(vec![Step::update(at.clone()).remove("limit_EUR")])).await,
                _ => app.delete(&at).await,
            }
            let refusal = case.refused("submit_refund", submit(&proposal, &key), &[&proposal]).await;
            assert_eq!(refusal["code"], "approval_revoked", "{withdrawal}: {refusal}");
            // Nothing but the authority was in the way.
            app.put(&at, authority(1_001)).await;
            let answer = case.call("submit_refund", submit(&proposal, &key)).await;
            assert_eq!(code(&answer), "ok", "{withdrawal}: {answer}");
        }
    });
}
