//! The event that a web request becomes: payload format 2.0.
//! <https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-request-payload>

use std::str;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use bytes::Bytes;
use countersign::clock::{Timestamp, wall_clock};
use data_encoding::BASE64;
use serde_json::{Map, Value, json};

use crate::lambda::ACCOUNT;

/// The event of a request; `None` where a header is no text, which no JSON can carry.
pub(super) fn of(parts: &Parts, body: &Bytes, domain: &str) -> Option<Bytes> {
    let path = parts.uri.path();
    let query = parts.uri.query().unwrap_or_default();
    let now = wall_clock().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let mut event = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers(&parts.headers)?,
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": "local",
            "domainName": domain,
            "domainPrefix": "local",
            "http": {
                "method": parts.method.as_str(),
                "path": path,
                "protocol": format!("{:?}", parts.version),
                // Nobody else reaches a loopback port.
                "sourceIp": "127.0.0.1",
                "userAgent": text(&parts.headers, &header::USER_AGENT)?,
            },
            "requestId": countersign::random::nonce().ok()?.to_string(),
            "routeKey": "$default",
            "stage": "$default",
            "time": Timestamp::now().to_string(),
            "timeEpoch": u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
        },
        "isBase64Encoded": false,
    });
    let members = event.as_object_mut()?;
    let cookies = cookies(&parts.headers)?;
    if !cookies.is_empty() {
        members.insert("cookies".to_owned(), json!(cookies));
    }
    if !query.is_empty() {
        members.insert("queryStringParameters".to_owned(), Value::Object(parameters(query)));
    }
    if !body.is_empty() {
        let text = str::from_utf8(body);
        members.insert("isBase64Encoded".to_owned(), json!(text.is_err()));
        members.insert("body".to_owned(), text.map_or_else(|_| json!(BASE64.encode(body)), |text| json!(text)));
    }
    Some(event.to_string().into())
}

/// The headers but for cookies: lower case, those that came more than once joined with commas.
fn headers(headers: &HeaderMap) -> Option<Map<String, Value>> {
    let names = headers.keys().filter(|name| **name != header::COOKIE);
    names.map(|name| Some((name.as_str().to_owned(), json!(text(headers, name)?)))).collect()
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values: Option<Vec<&str>> = headers.get_all(name).iter().map(readable).collect();
    Some(values?.join(","))
}

fn readable(value: &HeaderValue) -> Option<&str> {
    str::from_utf8(value.as_bytes()).ok()
}

fn cookies(headers: &HeaderMap) -> Option<Vec<&str>> {
    let lines: Option<Vec<&str>> = headers.get_all(header::COOKIE).iter().map(readable).collect();
    Some(lines?.into_iter().flat_map(|line| line.split(';')).map(str::trim).filter(|one| !one.is_empty()).collect())
}

/// The query as the event repeats it: decoded, what came more than once joined with commas.
fn parameters(query: &str) -> Map<String, Value> {
    let mut parameters = Map::new();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match parameters.get(name.as_ref()).and_then(Value::as_str) {
            Some(earlier) => {
                let joined = json!(format!("{earlier},{value}"));
                parameters.insert(name.into_owned(), joined);
            }
            None => drop(parameters.insert(name.into_owned(), json!(value))),
        }
    }
    parameters
}
