//! Signing in: the authorization code flow with PKCE, for pages where people decide.
//!
//! <https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth>, <https://www.rfc-editor.org/rfc/rfc7636>.
//! Every sign-in asks, so that `max_age` and `prompt=login` are always honored.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Form, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use countersign::clock::wall_clock;
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::Url;

use super::codes::{Codes, Grant, Proof};
use super::{Issuer, Persona};
use crate::listener::is_loopback_host;

pub(super) const AUTHORIZE: &str = "/authorize";
pub(super) const TOKEN: &str = "/token";

/// What a SHA-256 challenge looks like: 32 bytes in base64 without padding.
const CHALLENGE_LENGTH: usize = 43;

/// A client that people sign in to: public, so it proves itself by PKCE alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// Its id, and the audience of its ID tokens.
    pub id: String,
    /// Where a sign-in may lead, to the letter.
    pub redirect_uris: Vec<String>,
}

struct SignIn {
    issuer: Issuer,
    clients: Vec<Client>,
    codes: Codes,
}

/// An authorization request; what is not named here is ignored, as the standard says.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Asked {
    client_id: String,
    redirect_uri: String,
    response_type: String,
    scope: String,
    state: String,
    nonce: String,
    code_challenge: String,
    code_challenge_method: String,
    login_hint: String,
}

#[derive(Debug, Deserialize)]
struct Answered {
    persona: String,
    #[serde(flatten)]
    asked: Asked,
}

#[derive(Debug, Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Redemption {
    grant_type: String,
    code: String,
    redirect_uri: String,
    client_id: String,
    code_verifier: String,
}

pub(super) fn router(issuer: Issuer, clients: Vec<Client>) -> Router {
    let sign_in = Arc::new(SignIn { issuer, clients, codes: Codes::default() });
    Router::new()
        .route(AUTHORIZE, get(ask).post(signed_in))
        .route(TOKEN, post(redeem))
        .layer(middleware::from_fn(from_here))
        .with_state(sign_in)
}

/// No page elsewhere reaches the issuer through a name that it rebinds to loopback.
async fn from_here(request: Request, next: Next) -> Response {
    match is_loopback_host(request.uri(), request.headers()) {
        true => next.run(request).await,
        false => StatusCode::FORBIDDEN.into_response(),
    }
}

impl SignIn {
    /// What a request is refused with, in the standard's words, if it is. Where even the way back is not to be trusted,
    /// nobody is sent anywhere.
    fn refuses(&self, asked: &Asked) -> Option<Response> {
        let client = self.clients.iter().find(|client| client.id == asked.client_id);
        let registered = client.is_some_and(|client| client.redirect_uris.contains(&asked.redirect_uri));
        if !registered {
            return Some(
                (StatusCode::BAD_REQUEST, "the client or its redirect_uri is not registered\n").into_response(),
            );
        }
        let error = if asked.response_type != "code" {
            "unsupported_response_type"
        } else if !asked.scope.split(' ').any(|scope| scope == "openid") {
            "invalid_scope"
        } else if asked.code_challenge_method != "S256"
            || asked.code_challenge.len() != CHALLENGE_LENGTH
            || asked.state.is_empty()
            || asked.nonce.is_empty()
        {
            "invalid_request"
        } else {
            return None;
        };
        Some(back(asked, &[("error", error)]))
    }
}

/// The way back to the client.
fn back(asked: &Asked, parameters: &[(&str, &str)]) -> Response {
    let Ok(mut url) = Url::parse(&asked.redirect_uri) else { return StatusCode::BAD_REQUEST.into_response() };
    url.query_pairs_mut().extend_pairs(parameters).append_pair("state", &asked.state);
    Redirect::to(url.as_str()).into_response()
}

async fn ask(State(sign_in): State<Arc<SignIn>>, Query(asked): Query<Asked>) -> Response {
    sign_in.refuses(&asked).unwrap_or_else(|| page(&asked))
}

async fn signed_in(State(sign_in): State<Arc<SignIn>>, Form(answered): Form<Answered>) -> Response {
    let Answered { persona, asked } = answered;
    if let Some(refusal) = sign_in.refuses(&asked) {
        return refusal;
    }
    let Some(persona) = Persona::people().find(|person| person.name == persona) else {
        return back(&asked, &[("error", "access_denied")]);
    };
    let grant = Grant {
        persona,
        client: asked.client_id.clone(),
        redirect_uri: asked.redirect_uri.clone(),
        nonce: asked.nonce.clone(),
        challenge: asked.code_challenge.clone(),
        signed_in: wall_clock(),
    };
    match sign_in.codes.issue(grant) {
        Some(code) => back(&asked, &[("code", &code)]),
        None => back(&asked, &[("error", "server_error")]),
    }
}

async fn redeem(State(sign_in): State<Arc<SignIn>>, Form(asked): Form<Redemption>) -> Response {
    let refused = |error: &str| (StatusCode::BAD_REQUEST, Json(json!({ "error": error }))).into_response();
    if asked.grant_type != "authorization_code" {
        return refused("unsupported_grant_type");
    }
    let proof = Proof { client: &asked.client_id, redirect_uri: &asked.redirect_uri, verifier: &asked.code_verifier };
    let Some(grant) = sign_in.codes.redeem(&asked.code, &proof, wall_clock()) else { return refused("invalid_grant") };
    let token = sign_in.issuer.id_token(grant.persona, &grant.client, &grant.nonce, grant.signed_in);
    let (Ok(id_token), Ok(opens_nothing)) = (token, countersign::random::nonce()) else {
        return refused("server_error");
    };
    let body = json!({
        "access_token": opens_nothing.to_string(), "token_type": "Bearer", "expires_in": 60, "id_token": id_token,
    });
    ([(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

/// The sign-in page: a button a person.
fn page(asked: &Asked) -> Response {
    let hidden = [
        ("client_id", &asked.client_id),
        ("redirect_uri", &asked.redirect_uri),
        ("response_type", &asked.response_type),
        ("scope", &asked.scope),
        ("state", &asked.state),
        ("nonce", &asked.nonce),
        ("code_challenge", &asked.code_challenge),
        ("code_challenge_method", &asked.code_challenge_method),
    ];
    let mut form = String::new();
    for (name, value) in hidden {
        // Writing to a string does not fail.
        let _ = writeln!(form, "<input type=\"hidden\" name=\"{name}\" value=\"{}\">", escaped(value));
    }
    let hinted = Persona::people().find(|person| person.name == asked.login_hint);
    for person in Persona::people().filter(|person| hinted.is_none_or(|hinted| hinted == *person)) {
        let Persona { name, tenant, roles, .. } = person;
        let roles = roles.join(", ");
        let _ = writeln!(form, "<p><button name=\"persona\" value=\"{name}\">{name}</button> {tenant}, {roles}</p>");
    }
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Sign in</title>\n\
         <h1>Sign in to {client}</h1>\n\
         <p>This is a development issuer: it has no passwords, and whoever reads this can be anyone.</p>\n\
         <form method=\"post\" action=\"{AUTHORIZE}\">\n{form}</form>\n</html>\n",
        client = escaped(&asked.client_id),
    );
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, Html(html)).into_response()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
