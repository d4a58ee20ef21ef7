//! One call: what a process is given, and how the two sides of it are joined.

use countersign::clock::wall_clock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Invoked, MAX_CLIENT_CONTEXT_BYTES, MAX_PAYLOAD_BYTES, Refusal};

/// A call within Lambda's limits.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) payload: Bytes,
    pub(super) client_context: Option<HeaderValue>,
}

impl Call {
    pub(super) fn new(payload: Bytes, client_context: Option<Bytes>) -> Result<Self, Refusal> {
        if payload.len() > MAX_PAYLOAD_BYTES {
            return Err(Refusal::PayloadTooLarge(payload.len()));
        }
        let client_context = client_context.map(client_context_header).transpose()?;
        Ok(Self { id: request_id(), payload, client_context })
    }
}

fn client_context_header(context: Bytes) -> Result<HeaderValue, Refusal> {
    if context.len() > MAX_CLIENT_CONTEXT_BYTES {
        return Err(Refusal::ClientContextTooLarge(context.len()));
    }
    HeaderValue::from_maybe_shared(context).map_err(|_| Refusal::ClientContextNotOneLine)
}

/// A call on its way to a process: the Runtime API takes it, tells when, and later brings what came back.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) call: Call,
    pub(super) timeout: Duration,
    pub(super) taken: oneshot::Sender<Instant>,
    pub(super) reply: oneshot::Sender<Invoked>,
}

/// A request id in the form of a UUID: unique in this process and, by the clock, across restarts.
fn request_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed) & 0xffff_ffff_ffff;
    let millis = epoch_millis(wall_clock());
    let (high, low) = ((millis >> 16) & 0xffff_ffff, millis & 0xffff);
    format!("{high:08x}-{low:04x}-7000-8000-{number:012x}")
}

/// Milliseconds since 1970, as the deadline header counts them.
pub(super) fn epoch_millis(time: SystemTime) -> u64 {
    let elapsed = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

/// An error in the words of the platform, which names the call it is about.
pub(super) fn platform_error(kind: &str, id: &str, message: impl std::fmt::Display) -> Invoked {
    Invoked::FunctionError { kind: kind.to_owned(), message: format!("RequestId: {id} Error: {message}") }
}
