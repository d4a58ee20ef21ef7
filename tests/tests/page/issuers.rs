//! Issuers that are wrong, absent or lying: an ID token counts only if it is this issuer's, for this page and this sign-in.

use std::sync::{Arc, Mutex};

use axum::extract::Form;
use axum::routing::{get, post};
use axum::{Json, Router};
use countersign::clock::Timestamp;
use countersign::keys::{Signer, public_set};
use local::gateway::{ISSUER, PAGE_CLIENT};
use local::visitor::Page;
use reqwest::{Method, Url};
use serde_json::{Value, json};
use tests::{App, run, shared};

use crate::apart::{Apart, served};
use crate::person::{Person, SESSION, refusal};

/// An issuer that says what the test tells it to.
struct Issuer {
    document: String,
    /// What the next ID token is.
    token: Arc<Mutex<String>>,
    signer: Signer,
}

impl Issuer {
    async fn start() -> Self {
        let signer = Signer::parse(&Signer::generate("test").unwrap()).unwrap();
        let keys: Value = serde_json::from_str(&public_set(&[&signer]).unwrap()).unwrap();
        let token = Arc::new(Mutex::new(String::new()));
        let given = Arc::clone(&token);
        let url = served(move |url| {
            let document = json!({
                "issuer": ISSUER, "authorization_endpoint": format!("{url}/authorize"),
                "token_endpoint": format!("{url}/token"), "jwks_uri": format!("{url}/keys"),
                "response_types_supported": ["code"], "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["EdDSA"],
            });
            let answer = move |_: Form<Value>| {
                let id_token = given.lock().unwrap().clone();
                async move { Json(json!({ "access_token": "a", "token_type": "Bearer", "id_token": id_token })) }
            };
            Router::new()
                .route("/document", get(move || async move { Json(document) }))
                .route("/keys", get(move || async move { Json(keys) }))
                .route("/token", post(answer))
        })
        .await;
        Self { document: format!("{url}/document"), token, signer }
    }

    async fn page(&self, app: &App) -> Apart {
        Apart::start(app, |settings| {
            settings.insert("COUNTERSIGN_PAGE_ISSUER_DOCUMENT", self.document.clone());
        })
        .await
    }

    /// Signs in with what `make` makes of the usual claims.
    async fn signed_in(&self, app: &App, page: &Apart, make: impl FnOnce(Value) -> String) -> (Page, bool) {
        let person = Person::at(app, &page.url);
        let to = Url::parse(&person.get("/sign-in").await.location().unwrap()).unwrap();
        let asked = |name: &str| to.query_pairs().find(|(is, _)| is == name).unwrap().1.into_owned();
        let now = Timestamp::now().seconds();
        *self.token.lock().unwrap() = make(json!({
            "iss": ISSUER, "aud": PAGE_CLIENT, "sub": "u1", "nonce": asked("nonce"), "iat": now, "exp": now + 60,
            "auth_time": now, "tenant": "acme", "principal": "acme-approver", "roles": ["approver"], "name": "Ann",
        }));
        let back =
            Url::parse_with_params(&person.url("/callback"), [("code", "c"), ("state", &asked("state"))]).unwrap();
        let answer = person.browser.send(person.browser.request(Method::GET, back)).await.unwrap();
        let session = person.browser.cookies().contains_key(SESSION);
        (answer, session)
    }
}

fn with(mut claims: Value, name: &str, value: Value) -> Value {
    match value {
        Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
        value => claims[name] = value,
    }
    claims
}

#[test]
fn an_id_token_counts_only_as_it_has_to_be() {
    run(async {
        let app = shared().await;
        let issuer = Issuer::start().await;
        let page = issuer.page(app).await;
        let sign = |claims: &Value| issuer.signer.sign("JWT", claims).unwrap();
        let (answer, session) = issuer.signed_in(app, &page, |claims| sign(&claims)).await;
        assert_eq!((answer.status, session), (303, true), "{}", answer.body);
        let now = Timestamp::now().seconds();
        let wrong = [
            ("aud", json!("countersign-local")),
            ("aud", json!([PAGE_CLIENT, "another"])),
            ("iss", json!("https://other.example")),
            ("nonce", json!("other")),
            ("nonce", Value::Null),
            ("exp", json!(now - 60)),
            ("auth_time", Value::Null),
            ("auth_time", json!(now - 400)),
            ("auth_time", json!(now + 400)),
            ("tenant", Value::Null),
            ("tenant", json!("a#b")),
            ("tenant", json!(["acme"])),
            ("principal", Value::Null),
            ("principal", json!("")),
            ("actor", json!("acme-agent")),
        ];
        for (name, value) in wrong {
            let token = |claims| sign(&with(claims, name, value.clone()));
            let (answer, session) = issuer.signed_in(app, &page, token).await;
            assert_eq!((refusal(&answer), session), ((400, "sign_in_refused"), false), "{name}: {value}");
        }
        // What has not even the form of an ID token makes the issuer's whole answer none.
        for (name, value) in [("exp", Value::Null), ("auth_time", json!("now")), ("iat", json!([]))] {
            let token = |claims| sign(&with(claims, name, value.clone()));
            let (answer, session) = issuer.signed_in(app, &page, token).await;
            assert_eq!((answer.status, session), (503, false), "{name}: {value}");
        }
        page.lambda.shutdown().await;
    });
}

#[test]
fn an_id_token_that_another_key_or_no_key_signed_counts_for_nothing() {
    run(async {
        let app = shared().await;
        let issuer = Issuer::start().await;
        let page = issuer.page(app).await;
        let stranger = Signer::parse(&Signer::generate("test").unwrap()).unwrap();
        let unsigned = |claims: &Value| {
            let encoded = |value: &Value| data_encoding::BASE64URL_NOPAD.encode(value.to_string().as_bytes());
            format!("{}.{}.", encoded(&json!({"alg": "none"})), encoded(claims))
        };
        let forge: [&dyn Fn(&Value) -> String; 3] =
            [&|claims| stranger.sign("JWT", claims).unwrap(), &unsigned, &|_| "no token".to_owned()];
        for make in forge {
            let (answer, session) = issuer.signed_in(app, &page, |claims| make(&claims)).await;
            assert!(!session && [400, 503].contains(&answer.status), "{}", answer.status);
        }
        // An agent's own token, of the right issuer.
        let token = app.gateway.token(app.persona("acme-approver")).unwrap();
        let (answer, session) = issuer.signed_in(app, &page, |_| token).await;
        assert_eq!((refusal(&answer), session), ((400, "sign_in_refused"), false));
        page.lambda.shutdown().await;
    });
}

#[test]
fn without_the_issuer_signing_in_is_unavailable_and_the_page_lives_on() {
    run(async {
        let app = shared().await;
        let page = Apart::start(app, |settings| {
            settings.insert("COUNTERSIGN_PAGE_ISSUER_DOCUMENT", "http://127.0.0.1:9/document".to_owned());
        })
        .await;
        let person = Person::at(app, &page.url);
        for _ in 0..2 {
            let answer = person.get("/sign-in").await;
            assert_eq!(refusal(&answer), (503, "temporarily_unavailable"));
            assert!(!answer.body.contains("127.0.0.1") && !answer.body.contains("rror"), "{}", answer.body);
        }
        // Whoever is signed in goes on.
        let signed_in = Person::signed_in(app, "acme-approver").await;
        person.browser.set_cookie(SESSION, &signed_in.browser.cookies()[SESSION]);
        assert_eq!(person.get("/").await.status, 200);
        assert_eq!(page.lambda.cold_starts("approval_page"), 1);
        page.lambda.shutdown().await;
    });
}

#[test]
fn a_document_of_another_issuers_is_not_believed() {
    run(async {
        let app = shared().await;
        let issuer = Issuer::start().await;
        let page = Apart::start(app, |settings| {
            settings.insert("COUNTERSIGN_PAGE_ISSUER_DOCUMENT", issuer.document.clone());
            for name in ["COUNTERSIGN_ISSUER", "COUNTERSIGN_PAGE_ISSUER"] {
                settings.insert(name, "https://issuer.example".to_owned());
            }
        })
        .await;
        let answer = Person::at(app, &page.url).get("/sign-in").await;
        assert_eq!(refusal(&answer), (503, "temporarily_unavailable"));
        page.lambda.shutdown().await;
    });
}

#[test]
fn over_tls_the_cookies_are_for_this_host_alone() {
    run(async {
        let app = shared().await;
        let page = Apart::start(app, |settings| {
            settings.insert("COUNTERSIGN_PAGE_URL", "https://approvals.example".to_owned());
        })
        .await;
        let answer = Person::at(app, &page.url).get("/sign-in").await;
        let cookie = answer.headers["set-cookie"].to_str().unwrap();
        assert!(cookie.starts_with("__Host-countersign-sign-in=") && cookie.contains("Secure"), "{cookie}");
        assert!(answer.location().unwrap().contains("redirect_uri=https%3A%2F%2Fapprovals.example%2Fcallback"));
        page.lambda.shutdown().await;
    });
}
