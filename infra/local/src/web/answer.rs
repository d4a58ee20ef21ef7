//! The response that a function's answer becomes.
//! <https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-response-payload>

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::Value;

/// What the connection decides by itself, whatever a function says.
const CONNECTIONS_OWN: [HeaderName; 3] = [header::CONNECTION, header::CONTENT_LENGTH, header::TRANSFER_ENCODING];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    status_code: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    cookies: Vec<String>,
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

/// The response; `None` where the answer is none. An answer without a status is a body of JSON.
pub(super) fn response(answer: &Bytes) -> Option<Response> {
    let value: Value = serde_json::from_slice(answer).ok()?;
    if value.get("statusCode").is_none() {
        let response = Response::builder().header(header::CONTENT_TYPE, "application/json");
        return response.body(Body::from(answer.clone())).ok();
    }
    let answer: Answer = serde_json::from_value(value).ok()?;
    let body = answer.body.unwrap_or_default();
    let body = if answer.is_base64_encoded { BASE64.decode(body.as_bytes()).ok()? } else { body.into_bytes() };
    let status = StatusCode::from_u16(answer.status_code).ok().filter(|status| !status.is_informational())?;
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    for (name, value) in answer.headers {
        let name = HeaderName::try_from(name).ok()?;
        if !CONNECTIONS_OWN.contains(&name) {
            response.headers_mut().append(name, HeaderValue::try_from(value).ok()?);
        }
    }
    for cookie in answer.cookies {
        response.headers_mut().append(header::SET_COOKIE, HeaderValue::try_from(cookie).ok()?);
    }
    Some(response)
}
