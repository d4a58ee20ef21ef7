//! `approval_page`: where a person sees what was persisted of a refund proposal, and approves or rejects it.
//!
//! It works without scripts. A GET changes nothing, since mail scanners follow links; a POST is taken from the page's own
//! forms alone.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use countersign::config::Config;
use countersign::consent::{Desk, Owners};
use countersign::keys::{KeySet, Signer};
use countersign::ledger::Dynamo;

use crate::cookies::Cookies;
use crate::provider::Provider;
use crate::refusal::{Coded, Refusal};
use crate::settings::Settings;
use crate::{act, list, show, sign_in};

/// What the function is configured with.
pub(crate) struct ApprovalPage {
    pub(crate) settings: Settings,
    pub(crate) provider: Provider,
    pub(crate) ledger: Dynamo,
    signer: Signer,
    pub(crate) keys: KeySet,
    owners: Owners,
}

impl ApprovalPage {
    pub(crate) fn from_config(config: &Config) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self {
            settings: Settings::from_config(config)?,
            provider: Provider::new()?,
            ledger: config.ledger()?,
            signer: config.signer("COUNTERSIGN_CONSENT_SIGNING_KEY")?,
            keys: config.key_set("COUNTERSIGN_CONSENT_KEYS")?,
            owners: Owners::from_config(config)?,
        })
    }

    /// What decisions are made with.
    pub(crate) const fn desk(&self) -> Desk<'_> {
        Desk { signer: &self.signer, keys: &self.keys, owners: &self.owners }
    }
}

/// The page's addresses.
pub(crate) fn router(page: ApprovalPage) -> Router {
    let page = Arc::new(page);
    Router::new()
        .route("/", get(list::show))
        .route("/sign-in", get(sign_in::begin))
        .route("/callback", get(sign_in::finish))
        .route("/sign-out", post(sign_in::out))
        .route("/proposals/{id}", get(show::show))
        .route("/proposals/{id}/approve", post(act::approve))
        .route("/proposals/{id}/reject", post(act::reject))
        .route("/proposals/{id}/revoke", post(act::revoke))
        .route("/page.css", get(style))
        .fallback(async || Refusal::not_found())
        .method_not_allowed_fallback(async || Refusal::not_found())
        .layer(from_fn_with_state(Arc::clone(&page), bounded))
        .with_state(page)
}

async fn style(State(_): State<Arc<ApprovalPage>>) -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("../static/page.css")).into_response()
}

/// What every answer tells the browser, who is signed in where it is a refusal, and one log line a request: no query, no cookie, no form, no note.
async fn bounded(State(page): State<Arc<ApprovalPage>>, request: Request, next: Next) -> Response {
    const HEADERS: [(HeaderName, &str); 6] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        ),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Not `no-referrer`, under which a browser sends `Origin: null` with our own forms:
        // https://fetch.spec.whatwg.org/#append-a-request-origin-header
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ];
    let (began, method, route) = (Instant::now(), request.method().clone(), route(request.uri().path()));
    let asked = request.headers().clone();
    let mut response = next.run(request).await;
    if let Some(refusal) = response.extensions_mut().remove::<Refusal>() {
        response = with_page(response, refusal.page(Cookies::of(&asked, &page.settings).session().as_ref()));
    }
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let code = response.extensions().get::<Coded>().map_or("ok", |Coded(code)| code);
    let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let status = response.status().as_u16();
    tracing::info!(method = method.as_str(), route, status, code, milliseconds, "request");
    response
}

/// A refusal with its page: the page's body and kind, and all else as it was.
fn with_page(refused: Response, page: Response) -> Response {
    let (mut parts, _) = refused.into_parts();
    let (rendered, body) = page.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.extend(rendered.headers);
    Response::from_parts(parts, body)
}

/// A path as the log names it: nothing of a stranger's text.
fn route(path: &str) -> &'static str {
    match path {
        "/" => "/",
        "/sign-in" => "/sign-in",
        "/callback" => "/callback",
        "/sign-out" => "/sign-out",
        "/page.css" => "/page.css",
        _ => match path.strip_prefix("/proposals/").map(|rest| rest.rsplit_once('/').map(|(_, verb)| verb)) {
            Some(None) => "/proposals/{id}",
            Some(Some("approve")) => "/proposals/{id}/approve",
            Some(Some("reject")) => "/proposals/{id}/reject",
            Some(Some("revoke")) => "/proposals/{id}/revoke",
            Some(Some(_)) | None => "other",
        },
    }
}
