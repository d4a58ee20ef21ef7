//! The interceptor's two halves: the events it is called with and the answers it may give.
//!
//! The shapes are those of
//! <https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-interceptors-types.html>.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{functions::Functions, gate::CALLER_HEADER};

/// The function that is called in both positions.
const FUNCTION: &str = "interceptor";

/// Why an interceptor's word could not be had. The gateway refuses what it was asked about.
#[derive(Debug, thiserror::Error)]
pub(super) enum InterceptorError {
    /// The function failed.
    #[error("interceptor failed: {0}")]
    Failed(String),
    /// The function returned something else than the protocol says.
    #[error("interceptor answered in another form")]
    Form(#[source] serde_json::Error),
    /// The part that this position needs is missing or not usable.
    #[error("interceptor's answer has no usable {0}")]
    Missing(&'static str),
    /// The caller header came in two spellings with different values.
    #[error("interceptor named two callers")]
    TwoCallers,
}

/// What the REQUEST half decided.
#[derive(Debug)]
pub(super) enum Verdict {
    /// The message goes on.
    Forward {
        /// The value of the caller header; `-` where none was minted.
        caller: String,
        /// The message to go on with.
        body: Value,
    },
    /// The interceptor answers itself.
    Answer(Response),
}

/// The interceptor function.
#[derive(Clone)]
pub(super) struct Interceptor(Arc<dyn Functions>);

impl Interceptor {
    /// Finds the interceptor among the functions, by its name.
    pub(super) fn new(functions: Arc<dyn Functions>) -> Self {
        Self(functions)
    }

    /// The REQUEST half: who is calling, and may the message go on?
    pub(super) async fn request(&self, raw: &str, request: &Value) -> Result<Verdict, InterceptorError> {
        let output = self
            .call(&json!({
                "rawGatewayRequest": { "body": raw },
                "gatewayRequest": request,
            }))
            .await?;
        if let Some(response) = output.transformed_gateway_response {
            return response.into_http().map(Verdict::Answer);
        }
        let request =
            output.transformed_gateway_request.ok_or(InterceptorError::Missing("transformedGatewayRequest"))?;
        let caller = request.caller()?;
        let body = request.body.ok_or(InterceptorError::Missing("body"))?;
        Ok(Verdict::Forward { caller, body })
    }

    /// The RESPONSE half: the JSON-RPC response to give to the client.
    pub(super) async fn response(
        &self,
        raw: &str,
        request: &Value,
        response: &Value,
    ) -> Result<Value, InterceptorError> {
        let output = self
            .call(&json!({
                "rawGatewayRequest": { "body": raw },
                "gatewayRequest": request,
                "gatewayResponse": {
                    "statusCode": 200,
                    "headers": { "content-type": "application/json" },
                    "body": response,
                },
            }))
            .await?;
        output
            .transformed_gateway_response
            .and_then(|response| response.body)
            .ok_or(InterceptorError::Missing("transformedGatewayResponse"))
    }

    async fn call(&self, mcp: &Value) -> Result<Mcp, InterceptorError> {
        let event = json!({ "interceptorInputVersion": "1.0", "mcp": mcp }).to_string();
        let answer = self.0.invoke(FUNCTION, Bytes::from(event), None).await.map_err(InterceptorError::Failed)?;
        let output: Output = serde_json::from_slice(&answer).map_err(InterceptorError::Form)?;
        Ok(output.mcp)
    }
}

#[derive(Deserialize)]
struct Output {
    mcp: Mcp,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mcp {
    transformed_gateway_request: Option<TransformedRequest>,
    transformed_gateway_response: Option<TransformedResponse>,
}

#[derive(Deserialize)]
struct TransformedRequest {
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TransformedResponse {
    status_code: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Value>,
}

impl TransformedRequest {
    /// The caller header, in whatever case it was written.
    fn caller(&self) -> Result<String, InterceptorError> {
        let mut values =
            self.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(CALLER_HEADER)).map(|(_, value)| value);
        let caller = values.next().filter(|value| !value.is_empty()).ok_or(InterceptorError::Missing(CALLER_HEADER))?;
        if values.any(|other| other != caller) {
            return Err(InterceptorError::TwoCallers);
        }
        Ok(caller.clone())
    }
}

impl TransformedResponse {
    fn into_http(self) -> Result<Response, InterceptorError> {
        let status = StatusCode::from_u16(self.status_code)
            .ok()
            .filter(|status| status.as_u16() >= 200)
            .ok_or(InterceptorError::Missing("statusCode"))?;
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in &self.headers {
            let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) else {
                return Err(InterceptorError::Missing("headers"));
            };
            // How the body is framed is this server's affair.
            if ![header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION].contains(&name) {
                headers.insert(name, value);
            }
        }
        let body = self.body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        Ok((status, headers, body).into_response())
    }
}

/// A request as `mcp.gatewayRequest` has it. A header that came twice is joined with commas, as HTTP allows.
pub(super) fn gateway_request(path: &str, headers: &HeaderMap, body: &Value) -> Value {
    let mut joined = Map::new();
    for name in headers.keys() {
        let values: Vec<_> =
            headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        joined.insert(name.to_string(), Value::String(values.join(", ")));
    }
    json!({ "path": path, "httpMethod": "POST", "headers": joined, "body": body })
}
