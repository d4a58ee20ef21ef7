//! Forms: only the page's own, made for this session, by somebody who has signed in just now.

use countersign::bounded::Currency;
use countersign::clock::Timestamp;
use serde_json::json;
use std::time::Duration;
use tests::people::consent_key;
use tests::{App, run, shared};

use crate::person::{Person, offers, refusal};

async fn prepared(app: &App) -> String {
    let order = app.order("acme", Currency::Eur, 5_000).await;
    app.prepared(&order, 1_000).await
}

async fn undecided(app: &App, proposal: &str) -> bool {
    app.item(&consent_key("acme", proposal)).await.is_none()
}

#[test]
fn a_form_from_elsewhere_is_refused() {
    run(async {
        let app = shared().await;
        let proposal = prepared(app).await;
        let person = Person::signed_in(app, "acme-approver").await;
        let fields = [("csrf", person.csrf()), ("digest", person.digest(&proposal).await)];
        let gateway = app.gateway.url();
        let near = format!("{}0", person.page);
        for origin in ["https://evil.example", "null", "", gateway, &near, &person.page.replace("http", "https")] {
            for verb in ["approve", "reject", "revoke"] {
                let form = person.bare(&proposal, verb).header("origin", origin).form(&fields);
                assert_eq!(refusal(&person.browser.send(form).await.unwrap()), (403, "foreign_origin"), "{origin}");
            }
        }
        let unnamed = person.bare(&proposal, "approve").form(&fields);
        assert_eq!(refusal(&person.browser.send(unnamed).await.unwrap()), (403, "foreign_origin"));
        let out = person.browser.request(reqwest::Method::POST, person.url("/sign-out").parse().unwrap());
        assert_eq!(refusal(&person.browser.send(out).await.unwrap()), (403, "foreign_origin"));
        assert!(undecided(app, &proposal).await);
    });
}

#[test]
fn a_form_without_the_sessions_own_token_is_refused() {
    run(async {
        let app = shared().await;
        let proposal = prepared(app).await;
        let (person, other) =
            (Person::signed_in(app, "acme-approver").await, Person::signed_in(app, "acme-approver").await);
        assert_ne!(person.csrf(), other.csrf());
        let digest = person.digest(&proposal).await;
        for csrf in [other.csrf(), String::new(), person.csrf().to_uppercase(), format!("{} ", person.csrf())] {
            let fields = [("csrf", csrf.clone()), ("digest", digest.clone())];
            let form = person.bare(&proposal, "approve").header("origin", &person.page).form(&fields);
            assert_eq!(refusal(&person.browser.send(form).await.unwrap()), (403, "foreign_form"), "{csrf}");
        }
        for body in ["", "digest=x", "csrf=a&csrf=b", "%ff=%ff"] {
            let form = person.bare(&proposal, "approve").header("origin", &person.page);
            let form = form.header("content-type", "application/x-www-form-urlencoded").body(body);
            assert_eq!(refusal(&person.browser.send(form).await.unwrap()), (400, "invalid_input"), "{body}");
        }
        let json =
            person.bare(&proposal, "approve").header("origin", &person.page).json(&json!({"csrf": person.csrf()}));
        assert_eq!(refusal(&person.browser.send(json).await.unwrap()), (400, "invalid_input"));
        assert!(undecided(app, &proposal).await);
    });
}

#[test]
fn whoever_signed_in_a_while_ago_signs_in_again_and_comes_back_to_the_proposal() {
    run(async {
        let app = shared().await;
        let proposal = prepared(app).await;
        let ago = |seconds| Timestamp::now() - Duration::from_secs(seconds);
        let person = Person::with_session(app, |session| session["signed_in_at"] = json!(ago(310)));
        let stale = person.look(&proposal).await;
        assert_eq!(stale.status, 200);
        assert!(stale.body.contains("you have to have signed in within the last five minutes"), "{}", stale.body);
        assert!(["approve", "reject"].iter().all(|verb| !offers(&stale, verb)), "{}", stale.body);
        let refused = person.force(&proposal, "approve").await;
        assert_eq!(refusal(&refused), (401, "unauthenticated"));
        assert!(undecided(app, &proposal).await);
        let way = format!("/sign-in?proposal={proposal}");
        for page in [&stale, &refused] {
            assert!(page.body.contains(&format!("href=\"{way}\"")), "{}", page.body);
        }
        let shown = person.browser.sign_in(&person.url(&way), "acme-approver").await.unwrap();
        assert_eq!(shown.url.path(), format!("/proposals/{proposal}"));
        let decided = person.browser.submit(&shown, "/approve", &[]).await.unwrap();
        assert!(decided.body.contains("acme-approver approved it at"), "{}", decided.body);
        let signed_in_at = ago(250);
        let recent = Person::with_session(app, |session| session["signed_in_at"] = json!(signed_in_at));
        let other = prepared(app).await;
        let shown = recent.look(&other).await;
        let until = (signed_in_at + Duration::from_secs(300)).to_string().replace('T', " ").replace('Z', " UTC");
        let told = format!("For a decision your sign-in lapses at {until}; you sign in again then.");
        assert!(shown.body.contains(&told) && offers(&shown, "approve"), "{}", shown.body);
        assert_eq!(recent.force(&other, "approve").await.status, 303);
    });
}

#[test]
fn without_a_session_nothing_is_shown_and_nothing_is_decided() {
    run(async {
        let app = shared().await;
        let proposal = prepared(app).await;
        let stranger = Person::stranger(app);
        for path in ["/".to_owned(), format!("/proposals/{proposal}")] {
            let answer = stranger.get(&path).await;
            assert_eq!((answer.status, answer.body.as_str()), (303, ""));
            assert!(answer.location().unwrap().starts_with("/sign-in"));
        }
        for verb in ["approve", "reject", "revoke"] {
            assert_eq!(refusal(&stranger.force(&proposal, verb).await), (401, "unauthenticated"), "{verb}");
        }
        assert!(undecided(app, &proposal).await);
    });
}
