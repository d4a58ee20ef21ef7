//! The tap: a proxy before the database or the provider that counts every request, and lies where a test says so.
//!
//! Request budgets are counted here and faults are made here; the binaries that ship hold no switch for either. Which
//! function sent a request is known by the access key id in its signature, since each gets one of its own name.

mod door;
mod fault;
mod seen;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};

pub use door::Door;
pub use fault::{Fault, Rule};
pub use seen::Seen;

/// No request or answer of the product is larger.
const LARGEST: usize = 16 * 1024 * 1024;

/// Counts what all taps of the process see, so that requests to different addresses can be put in order.
static MOMENT: AtomicU64 = AtomicU64::new(1);

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

    /// What was seen in which one of these words occurs, in the order of arrival.
    #[must_use]
    pub fn about(&self, words: &[String]) -> Vec<Seen> {
        self.noted().seen.iter().filter(|seen| seen.is_about(words)).cloned().collect()
    }

    /// Forgets what was seen in which one of these words occurs.
    pub fn forget_about(&self, words: &[String]) {
        self.noted().seen.retain(|seen| !seen.is_about(words));
    }

    /// Makes a fault happen to requests to come.
    pub fn inject(&self, rule: Rule) {
        self.noted().rules.push(rule);
    }

    /// Takes every fault away.
    pub fn heal(&self) {
        self.noted().rules.clear();
    }

    /// Takes away every fault that is bound to one of these words.
    pub fn heal_about(&self, words: &[String]) {
        self.noted().rules.retain(|rule| !rule.is_bound_to(words));
    }

    /// What to serve on the address that is given out in place of the upstream's.
    pub fn router(&self) -> Router {
        Router::new().fallback(pass).with_state(self.clone())
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request, with the fault that is due for it.
    fn arrived(&self, mut seen: Seen) -> Seen {
        let mut noted = self.noted();
        seen.fault = fault::due(&mut noted.rules, &seen);
        seen.arrived_at = moment();
        noted.seen.push(seen.clone());
        seen
    }

    /// Notes how a request has ended, unless it was forgotten meanwhile.
    fn ended(&self, arrived_at: u64, note: impl FnOnce(&mut Seen)) {
        if let Some(seen) = self.noted().seen.iter_mut().rev().find(|seen| seen.arrived_at == arrived_at) {
            note(seen);
            seen.ended_at.get_or_insert_with(moment);
        }
    }

    /// Carries a request out, late if that is its fault; what is answered, or that nothing is to be.
    async fn carry_out(self, head: http::request::Parts, body: Bytes, seen: Seen) -> Response {
        if let Some(Fault::Delay(by)) = seen.fault {
            tokio::time::sleep(by).await;
        }
        let answered = self.forward(&head, seen::metered(&head, body)).await;
        let (status, headers, body) = match answered {
            Ok(answer) => answer,
            Err(broken) => {
                self.ended(seen.arrived_at, |_| ());
                return broken;
            }
        };
        self.ended(seen.arrived_at, |seen| seen.answered(status, &body));
        match seen.fault {
            Some(Fault::LoseReply) => return fault::hang_up(),
            Some(Fault::DelayReply(by)) => tokio::time::sleep(by).await,
            Some(
                Fault::LoseRequest
                | Fault::ServerError
                | Fault::Delay(_)
                | Fault::HangBefore
                | Fault::HangAfter
                | Fault::Throttle
                | Fault::TransactionConflict(_)
                | Fault::TransactionInProgress,
            )
            | None => {}
        }
        (status, headers, Body::from(body)).into_response()
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
    let seen = tap.arrived(Seen::of(&head, &body));
    let (arrived_at, fault) = (seen.arrived_at, seen.fault.clone());
    if let Some(answer) = fault.as_ref().and_then(|fault| fault.instead(&seen)) {
        tap.ended(arrived_at, |_| ());
        return answer;
    }
    let hangs = matches!(fault, Some(Fault::HangBefore | Fault::HangAfter));
    if matches!(fault, Some(Fault::Delay(_))) || (seen::is_for_the_database(&head) && !hangs) {
        // A task of its own: what is on its way arrives, whether or not somebody still waits for the answer. The provider
        // is to see who hangs up; the database does not care, and what it has done is to be known.
        let carried_out = tokio::spawn(tap.carry_out(head, body, seen));
        return carried_out.await.unwrap_or_else(|_| StatusCode::BAD_GATEWAY.into_response());
    }
    let _under_way = UnderWay { tap: tap.clone(), arrived_at };
    if fault == Some(Fault::HangBefore) {
        return std::future::pending().await;
    }
    let answer = tap.carry_out(head, body, seen).await;
    if fault == Some(Fault::HangAfter) {
        return std::future::pending().await;
    }
    answer
}

/// A request that ends when its client is gone, if not before: whoever is upstream sees that as well.
struct UnderWay {
    tap: Tap,
    arrived_at: u64,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.tap.ended(self.arrived_at, |_| ());
    }
}

fn moment() -> u64 {
    MOMENT.fetch_add(1, Ordering::Relaxed)
}
