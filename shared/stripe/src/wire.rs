//! The connection to Stripe: what is sent at most once, and how much of an answer is read.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName};
use reqwest::{Client, Response};

/// How long one request may take, from the first packet to the last byte of its answer.
const REQUEST: Duration = Duration::from_secs(10);
/// How long a connection may take: until then it is certain that nothing was asked for.
const CONNECTION: Duration = Duration::from_secs(5);

/// A client that sends what it is given once, or says that it could not.
pub(crate) fn client() -> reqwest::Result<Client> {
    Client::builder()
        .timeout(REQUEST)
        .connect_timeout(CONNECTION)
        // No connection is kept: a request on one that the other side had closed could be sent twice unseen.
        .pool_max_idle_per_host(0)
        .retry(reqwest::retry::never())
        .redirect(reqwest::redirect::Policy::none())
        // Where money is asked for is the settings' to say. A proxy that refused, or answered by itself, would be heard
        // as the provider.
        .no_proxy()
        .build()
}

/// An answer that came to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    /// `Stripe-Should-Retry: true`: Stripe does not call this its last word
    /// (<https://docs.stripe.com/error-low-level>).
    pub(crate) should_retry: bool,
    /// `Idempotent-Replayed: true`: what was answered the first time.
    pub(crate) replayed: bool,
    /// By which Stripe's support finds the request.
    pub(crate) request_id: String,
}

impl Answer {
    /// Reads an answer of up to so many bytes. `None` where it broke off or is larger.
    pub(crate) async fn read(response: Response, largest: usize) -> Option<Self> {
        let status = response.status().as_u16();
        let says_true = |name| header(response.headers(), name) == "true";
        let (should_retry, replayed) = (says_true(SHOULD_RETRY), says_true(REPLAYED));
        let request_id =
            header(response.headers(), REQUEST_ID).chars().filter(char::is_ascii_graphic).take(64).collect();
        let body = body(response, largest).await?;
        Some(Self { status, body, should_retry, replayed, request_id })
    }
}

const SHOULD_RETRY: HeaderName = HeaderName::from_static("stripe-should-retry");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

fn header(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

async fn body(mut response: Response, largest: usize) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > largest {
            return None;
        }
    }
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(headers: &[(&str, &str)], length: usize) -> Response {
        let mut response = http::Response::builder().status(402);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        Response::from(response.body(vec![b' '; length]).unwrap())
    }

    #[tokio::test]
    async fn an_answer_is_read_up_to_its_largest_size_and_not_one_byte_further() {
        assert_eq!(Answer::read(response(&[], 64 * 1024), 64 * 1024).await.unwrap().body.len(), 64 * 1024);
        assert!(Answer::read(response(&[], 64 * 1024 + 1), 64 * 1024).await.is_none());
    }

    #[tokio::test]
    async fn only_the_word_true_counts_in_a_header() {
        let headers = [("Stripe-Should-Retry", "true"), ("Idempotent-Replayed", "true"), ("Request-Id", "req_1\u{9}2")];
        let answer = Answer::read(response(&headers, 1), 1).await.unwrap();
        assert_eq!((answer.status, answer.should_retry, answer.replayed), (402, true, true));
        assert_eq!(answer.request_id, "req_12");
        let answer = Answer::read(response(&[("Stripe-Should-Retry", "false")], 1), 1).await.unwrap();
        assert_eq!((answer.should_retry, answer.replayed, answer.request_id.as_str()), (false, false, ""));
    }
}
