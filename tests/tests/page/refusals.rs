//! Who cannot decide about what. Each is refused by the form too, not by the missing button alone.

use countersign::bounded::Currency;
use countersign::change::{Change, Step};
use countersign::effect::Effect as _;
use local::visitor::Page;
use serde_json::json;
use tests::people::{authority, authority_key, consent_key, minutes_ago};
use tests::{App, run, shared};

use crate::person::{Person, offers, refusal};

/// What the form of this verb answers to the person, and whether the page had offered it.
async fn tried(person: &Person<'_>, proposal: &str, verb: &str) -> (bool, Page) {
    let shown = person.look(proposal).await;
    (offers(&shown, verb), person.force(proposal, verb).await)
}

async fn undecided(app: &App, proposal: &str) -> bool {
    app.item(&consent_key("acme", proposal)).await.is_none()
}

/// The person can neither approve nor reject this, and the form says so too.
async fn may_not(app: &App, person: &Person<'_>, proposal: &str) {
    for verb in ["approve", "reject"] {
        let (offered, answer) = tried(person, proposal, verb).await;
        assert_eq!((offered, refusal(&answer)), (false, (403, "forbidden")), "{verb}");
    }
    assert!(undecided(app, proposal).await);
}

#[test]
fn nobody_decides_about_a_proposal_of_their_own_from_whichever_account() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let own = app.prepared(&order, 1_000).await;
        // Another account of the human for whom the agent asked: the principal claim tells.
        let second_account = Person::signed_in(app, "acme-clerk-approver").await;
        let shown = second_account.look(&own).await;
        assert!(shown.body.contains("Nobody decides about a proposal of their own."), "{}", shown.body);
        assert!(shown.body.contains("Ask another approver, who is not the requester, to decide."), "{}", shown.body);
        may_not(app, &second_account, &own).await;
        // About somebody else's it decides, so that it is not the account that is refused.
        let others = app.prepared_at(&app.requester("acme"), &order, 1_100, minutes_ago(1)).await;
        let decided = second_account.press(others.id.as_str(), "approve", &[]).await;
        assert!(decided.body.contains("acme-clerk approved it at"), "{}", decided.body);
    });
}

#[test]
fn no_name_under_which_it_was_asked_for_decides() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let proposal = app.prepared(&order, 1_000).await;
        for name in ["acme-clerk", "acme-agent", "acme-agent-app"] {
            app.put(&authority_key("acme", name), authority(50_000)).await;
            may_not(app, &Person::named(app, "acme", name), &proposal).await;
        }
    });
}

#[test]
fn an_owner_of_the_client_decides_about_nothing_that_came_through_it() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let proposal = app.prepared(&order, 1_000).await;
        let owner = Person::signed_in(app, "acme-owner").await;
        may_not(app, &owner, &proposal).await;
        let shown = owner.look(&proposal).await;
        assert!(
            shown.body.contains("Ask another approver, who is neither the requester nor an owner"),
            "{}",
            shown.body
        );
        let elsewhere = app.prepared_at(&app.requester("acme"), &order, 1_100, minutes_ago(1)).await;
        let decided = owner.press(elsewhere.id.as_str(), "approve", &[]).await;
        assert!(decided.body.contains("acme-owner approved it at"), "{}", decided.body);
    });
}

#[test]
fn without_the_role_or_without_authority_nobody_decides() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let proposal = app.prepared(&order, 1_000).await;
        may_not(app, &Person::signed_in(app, "acme-operator").await, &proposal).await;
        let role_gone = Person::with_session(app, |session| session["roles"] = json!(["requester", "operator"]));
        may_not(app, &role_gone, &proposal).await;
        may_not(app, &Person::named(app, "acme", "nobody-in-particular"), &proposal).await;
    });
}

#[test]
fn over_a_persons_limit_they_can_only_reject() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let proposal = app.prepared(&order, 2_001).await;
        let junior = Person::signed_in(app, "acme-junior").await;
        let (offered, answer) = tried(&junior, &proposal, "approve").await;
        assert_eq!((offered, refusal(&answer)), (false, (403, "limit_exceeded")));
        assert!(junior.look(&proposal).await.body.contains("over your limit"));
        assert!(undecided(app, &proposal).await);
        let (offered, answer) = tried(&junior, &proposal, "reject").await;
        assert_eq!((offered, answer.status), (true, 303));
    });
}

#[test]
fn what_lapsed_or_was_decided_or_has_changed_cannot_be_approved() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let person = Person::signed_in(app, "acme-approver").await;

        let lapsed = app.prepared_at(&app.caller("acme-agent"), &order, 900, minutes_ago(31)).await.id.to_string();
        let (offered, answer) = tried(&person, &lapsed, "approve").await;
        assert_eq!((offered, refusal(&answer)), (false, (410, "proposal_expired")));

        let twice = app.prepared(&order, 1_000).await;
        assert_eq!(person.force(&twice, "approve").await.status, 303);
        for verb in ["approve", "reject"] {
            let (offered, answer) = tried(&person, &twice, verb).await;
            assert_eq!((offered, refusal(&answer)), (false, (409, "already_decided")), "{verb}");
        }

        let stale = app.prepared(&order, 1_100).await;
        let intent = app.proposal("acme", &stale).await;
        let moved = Step::update(intent.effect.subject(&intent.tenant)).set("terms_version", 2);
        app.commit(Change(vec![moved])).await;
        let (offered, answer) = tried(&person, &stale, "approve").await;
        assert_eq!((offered, refusal(&answer)), (false, (409, "proposal_stale")));
        assert!(person.look(&stale).await.body.contains("The order has changed since"));
        assert!(undecided(app, &stale).await);
    });
}

#[test]
fn what_was_not_shown_is_not_approved() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let (proposal, other) = (app.prepared(&order, 1_000).await, app.prepared(&order, 1_001).await);
        let person = Person::signed_in(app, "acme-approver").await;
        let digest = person.digest(&other).await;
        for (digest, expected) in
            [(digest.as_str(), (409, "approval_mismatch")), ("", (400, "invalid_input")), ("x", (400, "invalid_input"))]
        {
            let fields = [("csrf", person.csrf()), ("digest", digest.to_owned())];
            let form = person.bare(&proposal, "approve").header("origin", &person.page).form(&fields);
            assert_eq!(refusal(&person.browser.send(form).await.unwrap()), expected, "{digest}");
        }
        assert!(undecided(app, &proposal).await);
    });
}

/// An answer without what differs from request to request.
fn bytes(page: Page) -> (u16, Vec<(String, String)>, String) {
    let headers = page.headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    (page.status, headers.filter(|(name, _)| name != "date").collect(), page.body)
}

#[test]
fn what_is_another_tenants_is_not_there() {
    run(async {
        let app = shared().await;
        let order = app.order("globex", Currency::Usd, 5_000).await;
        let foreign = app.prepared_at(&app.requester("globex"), &order, 1_000, minutes_ago(1)).await.id.to_string();
        let absent = format!("prop_{}", "a".repeat(26));
        let person = Person::signed_in(app, "acme-approver").await;
        let expected = bytes(person.look(&absent).await);
        assert_eq!(expected.0, 404);
        let impossible = ["prop_", "%00", "..%2f", "plan_aaaaaaaaaaaaaaaaaaaaaaaaaa", &"a".repeat(5_000)];
        for id in [foreign.as_str()].into_iter().chain(impossible) {
            assert_eq!(bytes(person.look(id).await), expected, "{id}");
        }
        for verb in ["approve", "reject", "revoke"] {
            assert_eq!(bytes(person.force(&absent, verb).await), expected, "{verb}");
            assert_eq!(bytes(person.force(&foreign, verb).await), expected, "{verb}");
        }
        assert!(app.item(&consent_key("globex", &foreign)).await.is_none());
        let globex = Person::signed_in(app, "globex-approver").await;
        assert_eq!(globex.look(&foreign).await.status, 200);
    });
}

#[test]
fn where_the_page_says_no_it_says_to_whom_and_how_to_be_somebody_else() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let proposal = app.prepared(&order, 1_000).await;
        let (foreigner, stranger) = (Person::signed_in(app, "globex-approver").await, Person::stranger(app));
        let refused = foreigner.look(&proposal).await;
        assert_eq!(refusal(&refused), (404, "not_found"));
        assert!(refused.body.contains("globex-approver, of globex"), "{}", refused.body);
        for refused in [foreigner.get("/absent").await, foreigner.force(&proposal, "approve").await] {
            assert!(refused.body.contains("globex-approver, of globex"), "{}", refused.body);
        }
        for refused in [stranger.get("/absent").await, stranger.force(&proposal, "approve").await] {
            assert!(refused.body.contains("Code: <code>") && !refused.body.contains("Signed in as"));
        }
        // From there to the proposal.
        foreigner.browser.submit(&refused, "/sign-out", &[]).await.unwrap();
        let address = foreigner.url(&format!("/proposals/{proposal}"));
        assert_eq!(foreigner.browser.sign_in(&address, "acme-approver").await.unwrap().status, 200);
    });
}
