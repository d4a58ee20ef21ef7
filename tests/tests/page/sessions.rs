//! Sessions: sealed, bounded, and opened by a sign-in of this browser's at this issuer alone.

use countersign::bounded::Currency;
use countersign::clock::Timestamp;
use local::gateway::PAGE;
use local::issuer::Persona;
use reqwest::{Method, Url};
use serde_json::json;
use std::time::Duration;
use tests::people::consent_key;
use tests::{run, shared};

use crate::person::{Person, SESSION, refusal};

/// Where a sign-in comes back to, before the page has taken it.
async fn on_the_way_back(person: &Person<'_>, persona: &str) -> Url {
    let asked = person.browser.open(&person.url("/sign-in")).await.unwrap();
    let (action, mut fields) = asked.form("/authorize").unwrap();
    fields.push(("persona".to_owned(), persona.to_owned()));
    let form = person.browser.request(Method::POST, asked.url.join(&action).unwrap()).form(&fields);
    let answer = person.browser.send(form).await.unwrap();
    Url::parse(&answer.location().unwrap()).unwrap()
}

async fn opened(person: &Person<'_>, url: &Url) -> (u16, String) {
    let answer = person.browser.send(person.browser.request(Method::GET, url.clone())).await.unwrap();
    let code = refusal(&answer).1.to_owned();
    (answer.status, code)
}

#[test]
fn a_sign_in_asks_the_issuer_for_a_code_with_a_challenge_a_state_and_a_fresh_login() {
    run(async {
        let app = shared().await;
        let person = Person::stranger(app);
        let to = Url::parse(&person.get("/sign-in").await.location().unwrap()).unwrap();
        let asked: std::collections::BTreeMap<_, _> = to.query_pairs().into_owned().collect();
        assert!(to.as_str().starts_with(&format!("{}/authorize?", app.gateway.url())), "{to}");
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", "countersign-approvals"),
            ("code_challenge_method", "S256"),
            ("max_age", "300"),
            ("prompt", "login"),
            ("scope", "openid"),
        ] {
            assert_eq!(asked[name], value, "{name}");
        }
        assert_eq!(asked["redirect_uri"], person.url("/callback"));
        assert!(["state", "nonce", "code_challenge"].iter().all(|name| asked[*name].len() >= 22), "{asked:?}");
    });
}

#[test]
fn the_local_issuer_leads_nobody_astray() {
    run(async {
        let app = shared().await;
        let person = Person::stranger(app);
        let to = Url::parse(&person.get("/sign-in").await.location().unwrap()).unwrap();
        let asked = async |name: &str, value: &str| {
            let mut url = to.clone();
            let pairs: Vec<_> = to.query_pairs().into_owned().collect();
            url.query_pairs_mut().clear().extend_pairs(
                pairs.iter().map(|(is, was)| (is.as_str(), if is == name { value } else { was.as_str() })),
            );
            person.browser.send(person.browser.request(Method::GET, url)).await.unwrap()
        };
        let page = asked("login_hint", "").await;
        assert_eq!((page.status, page.body.matches("<button").count()), (200, Persona::people().count()));
        assert!(page.body.contains("it has no passwords"));
        let callback = person.url("/callback");
        for wrong in [format!("{callback}/"), format!("{callback}?a=b"), "https://evil.example/callback".to_owned()] {
            let answer = asked("redirect_uri", &wrong).await;
            assert_eq!((answer.status, answer.location()), (400, None), "{wrong}");
        }
        assert_eq!(asked("client_id", "another").await.status, 400);
        for (name, value, error) in [
            ("response_type", "token", "unsupported_response_type"),
            ("scope", "email", "invalid_scope"),
            ("code_challenge_method", "plain", "invalid_request"),
            ("code_challenge", "short", "invalid_request"),
            ("nonce", "", "invalid_request"),
        ] {
            let back = asked(name, value).await.location().unwrap();
            assert!(back.starts_with(&format!("{callback}?error={error}&state=")), "{back}");
        }
    });
}

#[test]
fn a_way_back_is_good_once_and_in_the_browser_that_began_it() {
    run(async {
        let app = shared().await;
        let (person, other) = (Person::stranger(app), Person::stranger(app));
        let back = on_the_way_back(&person, "acme-approver").await;
        on_the_way_back(&other, "acme-approver").await;
        // Into somebody else's browser: the state is not the one that browser began with.
        assert_eq!(opened(&other, &back).await, (400, "sign_in_refused".to_owned()));
        assert!(!other.browser.cookies().contains_key(SESSION));
        let began = person.browser.cookies()["countersign-sign-in"].clone();
        assert_eq!(opened(&person, &back).await.0, 303);
        assert!(person.browser.cookies().contains_key(SESSION));
        assert!(!person.browser.cookies().contains_key("countersign-sign-in"));
        // The same once more, without and with the cookie of then: the issuer takes a code once.
        assert_eq!(opened(&person, &back).await, (400, "sign_in_refused".to_owned()));
        let thief = Person::stranger(app);
        thief.browser.set_cookie("countersign-sign-in", &began);
        assert_eq!(opened(&thief, &back).await, (400, "sign_in_refused".to_owned()));
        assert!(!thief.browser.cookies().contains_key(SESSION));
    });
}

#[test]
fn a_way_back_with_another_state_or_another_code_signs_nobody_in() {
    run(async {
        let app = shared().await;
        for (name, value) in [("state", "other"), ("code", "other"), ("state", ""), ("code", "")] {
            let person = Person::stranger(app);
            let mut back = on_the_way_back(&person, "acme-approver").await;
            let pairs: Vec<_> = back.query_pairs().into_owned().collect();
            back.query_pairs_mut().clear().extend_pairs(
                pairs.iter().map(|(is, was)| (is.as_str(), if is == name { value } else { was.as_str() })),
            );
            assert_eq!(opened(&person, &back).await, (400, "sign_in_refused".to_owned()), "{name}={value}");
            assert!(!person.browser.cookies().contains_key(SESSION));
        }
        let refused = Person::stranger(app);
        let back = on_the_way_back(&refused, "nobody").await;
        assert!(back.query().unwrap().contains("error=access_denied"), "{back}");
        assert_eq!(opened(&refused, &back).await, (400, "sign_in_refused".to_owned()));
    });
}

#[test]
fn a_cookie_that_was_changed_or_sealed_for_another_use_is_no_session() {
    run(async {
        let app = shared().await;
        let person = Person::signed_in(app, "acme-approver").await;
        let sealed = person.browser.cookies()[SESSION].clone();
        let session = person.session().to_string();
        assert_eq!(person.get("/").await.status, 200);
        let mut changed = Vec::new();
        for at in [0, sealed.len() / 2, sealed.len() - 3] {
            let mut letters: Vec<char> = sealed.chars().collect();
            letters[at] = if letters[at] == 'A' { 'B' } else { 'A' };
            changed.push(letters.into_iter().collect::<String>());
        }
        changed.extend([sealed[..sealed.len() / 2].to_owned(), session.clone(), String::new()]);
        for cookie in changed {
            person.browser.set_cookie(SESSION, &cookie);
            assert_eq!(person.get("/").await.status, 303, "{cookie}");
        }
        // Sealed with the right key, under another name.
        person.seal("countersign-sign-in", &session);
        let moved = person.browser.cookies()["countersign-sign-in"].clone();
        person.browser.set_cookie(SESSION, &moved);
        assert_eq!(person.get("/").await.status, 303);
    });
}

#[test]
fn a_session_ends_and_is_not_kept_alive() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let proposal = app.prepared(&order, 1_000).await;
        let person = Person::signed_in(app, "acme-approver").await;
        let left = |session: &serde_json::Value| {
            let until: Timestamp = serde_json::from_value(session["expires_at"].clone()).unwrap();
            until.seconds() - Timestamp::now().seconds()
        };
        assert!((880..=900).contains(&left(&person.session())), "{}", person.session());
        let before = person.browser.cookies();
        person.look(&proposal).await;
        assert_eq!(person.browser.cookies(), before);
        let over = Person::with_session(app, |session| {
            session["expires_at"] = json!(Timestamp::now() - Duration::from_secs(1));
        });
        assert_eq!(over.look(&proposal).await.status, 303);
        assert_eq!(refusal(&over.force(&proposal, "approve").await), (401, "unauthenticated"));
        assert!(app.item(&consent_key("acme", &proposal)).await.is_none());

        let list = person.get("/").await;
        let gone = person.browser.submit(&list, "/sign-out", &[]).await.unwrap();
        assert_eq!(refusal(&gone), (200, "none"));
        assert!(gone.body.contains("You are signed out") && !gone.body.contains("Signed in as"), "{}", gone.body);
        assert!(!person.browser.cookies().contains_key(SESSION));
    });
}

#[test]
fn the_cookies_are_for_the_page_alone() {
    run(async {
        let app = shared().await;
        let person = Person::stranger(app);
        let began = person.get("/sign-in").await;
        let back = on_the_way_back(&person, "acme-approver").await;
        let finished = person.browser.send(person.browser.request(Method::GET, back)).await.unwrap();
        let set: Vec<String> = [&began, &finished]
            .iter()
            .flat_map(|page| page.headers.get_all("set-cookie"))
            .map(|cookie| cookie.to_str().unwrap().to_owned())
            .collect();
        assert_eq!(set.len(), 3, "{set:?}");
        for cookie in set {
            let kept = ["HttpOnly", "SameSite=Lax", "Path=/"].iter().all(|part| cookie.contains(part));
            assert!(kept && !cookie.contains("Domain"), "{cookie}");
            // Not over TLS here, so neither the attribute nor the prefix that asks for it.
            assert!(!cookie.contains("Secure") && !cookie.starts_with("__Host-"), "{cookie}");
        }
    });
}

#[test]
fn an_agents_token_opens_nothing() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let proposal = app.prepared(&order, 1_000).await;
        for persona in ["acme-agent", "acme-approver"] {
            let token = app.gateway.token(app.persona(persona)).unwrap();
            let agent = Person::stranger(app);
            agent.browser.set_cookie(SESSION, &token);
            for path in ["/".to_owned(), format!("/proposals/{proposal}")] {
                let url = Url::parse(&agent.url(&path)).unwrap();
                let request = agent.browser.request(Method::GET, url).bearer_auth(&token);
                assert_eq!(agent.browser.send(request).await.unwrap().status, 303, "{path}");
            }
            let fields =
                [("csrf", String::new()), ("digest", app.proposal("acme", &proposal).await.digest.to_string())];
            for verb in ["approve", "reject", "revoke"] {
                let form = agent.bare(&proposal, verb).header("origin", &agent.page).bearer_auth(&token).form(&fields);
                assert_eq!(refusal(&agent.browser.send(form).await.unwrap()), (401, "unauthenticated"), "{verb}");
            }
        }
        assert!(app.item(&consent_key("acme", &proposal)).await.is_none());
        // The log has a line for each of these requests, and no token, cookie or digest in any.
        let logs: Vec<String> = app.logs().into_iter().filter(|line| line.starts_with(PAGE)).collect();
        assert!(logs.iter().any(|line| line.contains("/proposals/{id}/approve") && line.contains("unauthenticated")));
        let digest = app.proposal("acme", &proposal).await.digest.to_string();
        assert!(logs.iter().all(|line| !line.contains("eyJ") && !line.contains(&digest) && !line.contains("code=")));
    });
}
