//! The Lambda Runtime API, over `lambda_runtime_api_client`.
//!
//! `lambda_runtime` 1.5 reads the client context into a map of strings before any layer of ours runs, and ends the
//! process when `custom` holds anything else, which is how AgentCore Gateway propagates headers. Nothing can be put in
//! front of it, so tools run this loop. When upstream takes nested values, this file goes.
//!
//! Protocol: <https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>.

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use lambda_runtime_api_client::body::Body;
use lambda_runtime_api_client::{BoxError, PooledClient, build_request};
use serde_json::json;

use crate::config::{Config, ConfigError};

const BASE: &str = "/2018-06-01/runtime";

/// One call as Lambda hands it over.
#[derive(Debug)]
pub(super) struct Invoked {
    pub(super) request_id: String,
    /// Milliseconds since 1970; 0 where the header says nothing.
    pub(super) deadline_ms: u64,
    /// As it arrived, of any bytes; empty where there is none.
    pub(super) client_context: Vec<u8>,
    pub(super) payload: Bytes,
}

/// Why no further call can be had: the process has nothing left to do.
#[derive(Debug, thiserror::Error)]
pub(super) enum RuntimeError {
    #[error("the Lambda Runtime API is gone: {0}")]
    Gone(BoxError),
    #[error("the Lambda Runtime API answered {0}")]
    Refused(StatusCode),
    #[error("the Lambda Runtime API handed over a call without an id")]
    NoRequestId,
}

/// The connection to the Runtime API.
#[derive(Debug)]
pub(super) struct Runtime {
    client: PooledClient,
}

impl Runtime {
    pub(super) fn connect(config: &Config) -> Result<Self, ConfigError> {
        Ok(Self { client: PooledClient::builder().with_endpoint(config.runtime_api()?).build() })
    }

    /// Waits for the next call.
    pub(super) async fn next(&self) -> Result<Invoked, RuntimeError> {
        let request = build_request().uri(format!("{BASE}/invocation/next")).body(Body::empty());
        let request = request.map_err(|error| RuntimeError::Gone(error.into()))?;
        let (head, body) = self.client.call(request).await.map_err(RuntimeError::Gone)?.into_parts();
        if head.status != StatusCode::OK {
            return Err(RuntimeError::Refused(head.status));
        }
        let payload = body.collect().await.map_err(|error| RuntimeError::Gone(error.into()))?.to_bytes();
        let request_id = text(&head.headers, "lambda-runtime-aws-request-id").ok_or(RuntimeError::NoRequestId)?;
        let deadline_ms = text(&head.headers, "lambda-runtime-deadline-ms").and_then(|ms| ms.parse().ok()).unwrap_or(0);
        let client_context = head.headers.get("lambda-runtime-client-context");
        let client_context = client_context.map(|value| value.as_bytes().to_vec()).unwrap_or_default();
        Ok(Invoked { request_id, deadline_ms, client_context, payload })
    }

    /// Gives the answer to a call. Where that fails the next `next` tells whether the Runtime API is gone.
    pub(super) async fn respond(&self, request_id: &str, answer: Bytes) {
        let path = format!("{BASE}/invocation/{request_id}/response");
        if let Err(error) = self.post(&path, answer.into()).await {
            tracing::error!(%error, request_id, "the answer did not reach Lambda");
        }
    }

    /// Says that the function could not start.
    pub(super) async fn init_error(&self, message: &str) {
        let body = json!({ "errorType": "Countersign.Init", "errorMessage": message }).to_string();
        if let Err(error) = self.post(&format!("{BASE}/init/error"), body.into()).await {
            tracing::error!(%error, "the init error did not reach Lambda");
        }
    }

    async fn post(&self, path: &str, body: Body) -> Result<(), BoxError> {
        let request = build_request().method("POST").uri(path).header("content-type", "application/json");
        let request: Request<Body> = request.body(body)?;
        let response: Response<_> = self.client.call(request).await?;
        // The body is read to its end, so that the connection can be used again.
        let status = response.status();
        response.into_body().collect().await?;
        if status.is_success() { Ok(()) } else { Err(format!("the Runtime API answered {status}").into()) }
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}
