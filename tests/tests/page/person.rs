//! A person at the page, and what their browser holds: sealed by the page, opened here with its key.

use axum::response::IntoResponse as _;
use axum_extra::extract::cookie::{Cookie, Key, PrivateCookieJar};
use countersign::clock::Timestamp;
use data_encoding::BASE64;
use local::gateway::PAGE;
use local::visitor::{Page, Visitor};
use reqwest::header::{COOKIE, HeaderMap, HeaderValue};
use reqwest::{Method, RequestBuilder, Url};
use serde_json::{Value, json};
use tests::App;

pub(crate) const SESSION: &str = "countersign-session";

/// Somebody with a browser.
pub(crate) struct Person<'a> {
    app: &'a App,
    /// Where the page is.
    pub(crate) page: String,
    pub(crate) browser: Visitor,
}

impl<'a> Person<'a> {
    /// Nobody yet.
    pub(crate) fn stranger(app: &'a App) -> Self {
        Self::at(app, app.gateway.http_url(PAGE).unwrap())
    }

    /// Nobody yet, at a page elsewhere.
    pub(crate) fn at(app: &'a App, page: &str) -> Self {
        Self { app, page: page.to_owned(), browser: Visitor::new().unwrap() }
    }

    /// A persona who has signed in at the issuer.
    pub(crate) async fn signed_in(app: &'a App, persona: &str) -> Self {
        let person = Self::stranger(app);
        let landed = person.browser.sign_in(&person.url("/"), persona).await.unwrap();
        assert_eq!((landed.status, landed.url.path()), (200, "/"), "{}", landed.body);
        person
    }

    /// Somebody with a session that the page has sealed, whatever the issuer knows of them.
    pub(crate) fn with_session(app: &'a App, edit: impl FnOnce(&mut Value)) -> Self {
        let person = Self::stranger(app);
        let now = Timestamp::now();
        let mut session = json!({
            "tenant": "acme", "principal": "acme-approver", "roles": ["approver"], "name": "Somebody",
            "signed_in_at": now, "expires_at": now + std::time::Duration::from_secs(900), "csrf": "made-for-a-test",
        });
        edit(&mut session);
        person.seal(SESSION, &session.to_string());
        person
    }

    /// An approver of a tenant's under this name.
    pub(crate) fn named(app: &'a App, tenant: &str, principal: &str) -> Self {
        Self::with_session(app, |session| {
            session["tenant"] = json!(tenant);
            session["principal"] = json!(principal);
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.page)
    }

    /// What a path answers, without following it.
    pub(crate) async fn get(&self, path: &str) -> Page {
        let url = Url::parse(&self.url(path)).unwrap();
        self.browser.send(self.browser.request(Method::GET, url)).await.unwrap()
    }

    /// A proposal as it is shown.
    pub(crate) async fn look(&self, proposal: &str) -> Page {
        self.get(&format!("/proposals/{proposal}")).await
    }

    /// Sends a form of a proposal's page, which must be there.
    pub(crate) async fn press(&self, proposal: &str, verb: &str, more: &[(&str, &str)]) -> Page {
        let shown = self.look(proposal).await;
        self.browser.submit(&shown, &format!("/{verb}"), more).await.unwrap()
    }

    /// A form as the page would make it, whether or not it did.
    pub(crate) async fn form(&self, proposal: &str, verb: &str) -> RequestBuilder {
        let fields = [("csrf", self.csrf()), ("digest", self.digest(proposal).await)];
        self.bare(proposal, verb).header("origin", &self.page).form(&fields)
    }

    /// A form without fields and without an origin.
    pub(crate) fn bare(&self, proposal: &str, verb: &str) -> RequestBuilder {
        let url = Url::parse(&self.url(&format!("/proposals/{proposal}/{verb}"))).unwrap();
        self.browser.request(Method::POST, url)
    }

    /// Sends a form whether or not the page shows it.
    pub(crate) async fn force(&self, proposal: &str, verb: &str) -> Page {
        self.browser.send(self.form(proposal, verb).await).await.unwrap()
    }

    pub(crate) async fn digest(&self, proposal: &str) -> String {
        let tenants = ["acme".to_owned(), self.session()["tenant"].as_str().unwrap().to_owned()];
        for tenant in tenants {
            if self.app.item(&tests::people::proposal_key(&tenant, proposal)).await.is_some() {
                return self.app.proposal(&tenant, proposal).await.digest.to_string();
            }
        }
        "0".repeat(64)
    }

    pub(crate) fn csrf(&self) -> String {
        self.session()["csrf"].as_str().unwrap_or_default().to_owned()
    }

    /// The session as it is sealed in the cookie.
    pub(crate) fn session(&self) -> Value {
        let cookies = self.browser.cookies();
        let Some(sealed) = cookies.get(SESSION) else { return json!({ "tenant": "acme" }) };
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_str(&format!("{SESSION}={sealed}")).unwrap());
        let jar = PrivateCookieJar::from_headers(&headers, self.key());
        serde_json::from_str(jar.get(SESSION).unwrap().value()).unwrap()
    }

    /// Puts a sealed value into a cookie.
    pub(crate) fn seal(&self, name: &str, value: &str) {
        let jar: PrivateCookieJar = PrivateCookieJar::from_headers(&HeaderMap::new(), self.key());
        let sealed = jar.add(Cookie::new(name.to_owned(), value.to_owned())).into_response();
        let sealed = sealed.headers()["set-cookie"].to_str().unwrap();
        let (_, sealed) = sealed.split(';').next().unwrap().split_once('=').unwrap();
        self.browser.set_cookie(name, sealed);
    }

    fn key(&self) -> Key {
        Key::from(&BASE64.decode(self.app.gateway.keys().state().as_bytes()).unwrap())
    }
}

/// Status and code of a refusal.
pub(crate) fn refusal(page: &Page) -> (u16, &str) {
    let code = page.body.split("Code: <code>").nth(1).and_then(|rest| rest.split('<').next());
    (page.status, code.unwrap_or("none"))
}

/// What a page is headed with, without the mark of its amount.
pub(crate) fn heading(page: &Page) -> String {
    let heading = page.body.split("<h1>").nth(1).and_then(|rest| rest.split("</h1>").next()).unwrap();
    heading.replace("<strong class=\"amount\">", "").replace("</strong>", "").replace("&#39;", "'")
}

/// Whether a page has a form that leads to this verb.
pub(crate) fn offers(page: &Page, verb: &str) -> bool {
    page.form(&format!("/{verb}")).is_some()
}
