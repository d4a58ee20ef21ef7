//! Functions behind web addresses: a request becomes the event of payload format 2.0, the answer becomes a response.
//!
//! It stands where a function URL or an HTTP API stands in production
//! (<https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html>). Bytes arrive as they were sent, since a
//! webhook's signature is over them.

mod answer;
mod event;

use std::collections::BTreeMap;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::binaries::{Function, Trigger};
use crate::lambda::{Invoked, Lambda, Refusal};
use crate::listener::{ListenError, is_loopback_host, listen, read, serve};

/// The most bytes of a body: 6 MB, as for every synchronous call. What a body grows by in its event counts too, so that
/// the true limit is a little lower, and lower by a quarter for bytes that are no text.
pub const MAX_BODY_BYTES: usize = 6 * 1024 * 1024;

/// The addresses of the functions that are called by web requests, taken before any function starts.
pub(crate) struct Addresses(BTreeMap<String, (TcpListener, String)>);

impl Addresses {
    /// Takes a loopback port for each: the ones after `port`, in order of the functions' names, as far as they are free.
    pub(crate) async fn take(functions: &[Function], port: u16) -> Result<Self, ListenError> {
        let mut taken = BTreeMap::new();
        let mut wished = port;
        for function in functions.iter().filter(|function| function.trigger == Trigger::Http) {
            wished = if wished == 0 { 0 } else { wished.saturating_add(1) };
            let address = match listen(wished).await {
                Err(ListenError::InUse(_)) => listen(0).await?,
                other => other?,
            };
            taken.insert(function.name.clone(), address);
        }
        Ok(Self(taken))
    }

    /// The addresses, such as `http://127.0.0.1:8701`, by the functions' names.
    pub(crate) fn urls(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|(name, (_, url))| (name.clone(), url.clone())).collect()
    }

    /// Answers requests from now on.
    pub(crate) fn serve(self, lambda: &Lambda, stop: &CancellationToken) {
        for (name, (listener, url)) in self.0 {
            serve(listener, router(lambda.clone(), &name, &url), stop.clone());
        }
    }
}

/// A router that calls one function with every request. `url` is its address.
pub fn router(lambda: Lambda, function: &str, url: &str) -> Router {
    let place = Place { lambda, function: function.to_owned(), domain: url.trim_start_matches("http://").to_owned() };
    Router::new().fallback(move |request: Request| {
        let place = place.clone();
        async move { place.answer(request).await }
    })
}

#[derive(Clone)]
struct Place {
    lambda: Lambda,
    function: String,
    domain: String,
}

impl Place {
    async fn answer(&self, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        // A page elsewhere could otherwise reach the function through a name that it rebinds to loopback.
        if !is_loopback_host(&parts.uri, &parts.headers) {
            return refuse(StatusCode::FORBIDDEN, "only loopback hosts are served here");
        }
        let body = match read(body, MAX_BODY_BYTES).await {
            Ok(Some(body)) => body,
            Ok(None) => return too_large(),
            // It came too slowly, or broke off.
            Err(_) => return refuse(StatusCode::REQUEST_TIMEOUT, "the body did not arrive"),
        };
        let Some(event) = event::of(&parts, &body, &self.domain) else {
            return refuse(StatusCode::BAD_REQUEST, "a header is no text");
        };
        match self.lambda.invoke(&self.function, event, None).await {
            Invoked::Answered(answer) => self.respond(&answer),
            Invoked::FunctionError { kind, message } => {
                tracing::warn!(function = self.function, kind, message, "a web request failed");
                failed()
            }
            Invoked::Refused(Refusal::PayloadTooLarge(_)) => too_large(),
            Invoked::Refused(refusal) => {
                tracing::warn!(function = self.function, %refusal, "a web request was not taken");
                refuse(StatusCode::SERVICE_UNAVAILABLE, "the function takes no calls now")
            }
        }
    }

    fn respond(&self, answer: &Bytes) -> Response {
        answer::response(answer).unwrap_or_else(|| {
            tracing::warn!(function = self.function, "the answer to a web request is no response");
            failed()
        })
    }
}

fn too_large() -> Response {
    refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body has more than 6 MB")
}

fn failed() -> Response {
    refuse(StatusCode::BAD_GATEWAY, "the function failed")
}

fn refuse(status: StatusCode, message: &str) -> Response {
    let body = Body::from(serde_json::json!({ "message": message }).to_string());
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
