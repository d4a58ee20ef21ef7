//! The tap: a proxy before the database or the provider that counts every request, and lies where a test says so.
//!
//! Request budgets are counted here and faults are made here; the binaries that ship hold no switch for either. Which
//! function sent a request is known by the access key id in its signature, since each gets one of its own name.

mod fault;
mod seen;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};

pub use fault::{Fault, Rule};
pub use seen::Seen;

/// No request or answer of the product is larger.
const LARGEST: usize = 16 * 1024 * 1024;

/// A tap before one address. Clones are the same tap.
#[derive(Clone)]
pub struct Tap(Arc<Inner>);

struct Inner {
    upstream: String,
    client: reqwest::Client,
    state: Mutex<Noted>,
}

#[derive(Default)]
struct Noted {
    seen: Vec<Seen>,
    rules: Vec<Rule>,
}

impl Tap {
    /// A tap before `upstream`, such as `http://127.0.0.1:4000`.
    #[must_use]
    pub fn new(upstream: impl Into<String>) -> Self {
        let (upstream, client) = (upstream.into(), reqwest::Client::new());
        Self(Arc::new(Inner { upstream, client, state: Mutex::default() }))
    }

    /// Everything that was sent through it since it was last forgotten, in the order of arrival.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.noted().seen.clone()
    }

    /// Forgets what was seen.
    pub fn forget(&self) {
        self.noted().seen.clear();
    }

    /// Makes a fault happen to requests to come.
    pub fn inject(&self, rule: Rule) {
        self.noted().rules.push(rule);
    }

    /// Takes every fault away.
    pub fn heal(&self) {
        self.noted().rules.clear();
    }

    /// What to serve on the address that is given out in place of the upstream's.
    pub fn router(&self) -> Router {
        Router::new().fallback(pass).with_state(self.clone())
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fault that is due for a request.
    fn fault(&self, seen: &Seen) -> Option<Fault> {
        self.noted().rules.iter_mut().find_map(|rule| rule.strikes(seen))
    }

    /// Sends a request on and reads the answer.
    async fn forward(
        &self,
        head: &http::request::Parts,
        body: Bytes,
    ) -> Result<(StatusCode, HeaderMap, Bytes), Response> {
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut headers = head.headers.clone();
        for framing in [header::HOST, header::CONTENT_LENGTH, header::TRANSFER_ENCODING] {
            headers.remove(framing);
        }
        let url = format!("{}{path}", self.0.upstream);
        let request = self.0.client.request(head.method.clone(), url).headers(headers).body(body);
        let broken = |_| StatusCode::BAD_GATEWAY.into_response();
        let answer = request.send().await.map_err(broken)?;
        let (status, mut headers) = (answer.status(), answer.headers().clone());
        headers.remove(header::TRANSFER_ENCODING);
        Ok((status, headers, answer.bytes().await.map_err(broken)?))
    }
}

async fn pass(State(tap): State<Tap>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, LARGEST).await else { return StatusCode::PAYLOAD_TOO_LARGE.into_response() };
    let mut seen = Seen::of(&head, &body);
    let fault = tap.fault(&seen);
    if let Some(answer) = fault.as_ref().and_then(|fault| fault.instead(&seen)) {
        tap.noted().seen.push(seen);
        return answer;
    }
    if let Some(Fault::Delay(by)) = fault {
        tokio::time::sleep(by).await;
    }
    let answered = tap.forward(&head, seen::metered(&head, body)).await;
    let (status, headers, body) = match answered {
        Ok(answer) => answer,
        Err(broken) => return broken,
    };
    seen.answered(status, &body);
    tap.noted().seen.push(seen);
    if fault == Some(Fault::LoseReply) {
        return fault::hang_up();
    }
    (status, headers, Body::from(body)).into_response()
}
