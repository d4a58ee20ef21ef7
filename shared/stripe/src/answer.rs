//! What each answer proves. What is not understood proves nothing: `unknown`, never `failed`.

use countersign::delivery::Sent;
use serde::Deserialize;

use crate::object::{RefundObject, Standing, word};
use crate::request::Request;

/// An error (<https://docs.stripe.com/api/errors>).
#[derive(Deserialize)]
struct ErrorBody {
    error: ErrorObject,
}

#[derive(Deserialize)]
struct ErrorObject {
    r#type: String,
    code: Option<String>,
    param: Option<String>,
}

/// A refund object has some two kilobytes.
const LARGEST: usize = 64 * 1024;

pub(crate) async fn read(response: reqwest::Response, request: &Request, attempt: i64) -> Sent {
    let status = response.status().as_u16();
    match body(response, LARGEST).await {
        Some(body) => classify(status, &body, request, attempt),
        None => Sent::Unknown("the provider's answer broke off, or is of no reasonable size".to_owned()),
    }
}

/// The whole body, if it ends and is no larger than this.
pub(crate) async fn body(mut response: reqwest::Response, largest: usize) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > largest {
            return None;
        }
    }
    Some(body)
}

fn classify(status: u16, body: &[u8], request: &Request, attempt: i64) -> Sent {
    match status {
        200..=299 => accepted(body, request),
        // Checked before anything is done or stored under the key.
        401 | 403 => Sent::NotExecuted("the provider does not accept the key".to_owned()),
        429 => Sent::NotExecuted("the provider asks to slow down".to_owned()),
        400 | 402 | 404 => refused(body, attempt),
        // 409: the first request with this key is still at it.
        _ => Sent::Unknown(format!("the provider answered {status}")),
    }
}

fn accepted(body: &[u8], request: &Request) -> Sent {
    let Ok(refund) = serde_json::from_slice::<RefundObject>(body) else {
        return Sent::Unknown("the provider's answer cannot be read".to_owned());
    };
    if refund.differs(request).is_some() {
        return Sent::Unknown("the provider answered about another refund".to_owned());
    }
    let Some(reference) = refund.reference() else {
        return Sent::Unknown("the provider's answer names no refund".to_owned());
    };
    match refund.standing() {
        Standing::Succeeded => Sent::Happened(reference),
        Standing::Undone(reason) => Sent::Refused(reason),
        Standing::Open => Sent::Accepted(reference),
    }
}

fn refused(body: &[u8], attempt: i64) -> Sent {
    let Ok(ErrorBody { error }) = serde_json::from_slice(body) else {
        return Sent::Unknown("the provider's refusal cannot be read".to_owned());
    };
    let what = word(error.code.or(error.param).as_ref().unwrap_or(&error.r#type));
    match (error.r#type.as_str(), what.as_str()) {
        // Something else was sent under this key before.
        ("idempotency_error", _) => Sent::Unknown("the key was used for another request".to_owned()),
        // It may have been this very refund that did it.
        (_, "charge_already_refunded") if attempt > 1 => Sent::Unknown(what),
        ("invalid_request_error" | "card_error", _) => Sent::Refused(what),
        _ => Sent::Unknown(what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            account: "acct_1".into(),
            live: false,
            form: String::new(),
            amount: 100,
            currency: "eur".into(),
            payment: "pi_1".into(),
        }
    }

    fn refund(status: &str) -> String {
        format!(r#"{{"id":"re_1","status":"{status}","amount":100,"currency":"eur","payment_intent":"pi_1"}}"#)
    }

    /// The name of what was concluded.
    fn conclusion(sent: &Sent) -> &'static str {
        match sent {
            Sent::Happened(_) => "happened",
            Sent::Accepted(_) => "accepted",
            Sent::Refused(_) => "refused",
            Sent::NotExecuted(_) => "not executed",
            Sent::Unknown(_) => "unknown",
        }
    }

    #[test]
    fn each_answer_is_taken_for_no_more_than_it_proves() {
        let error = |kind| format!(r#"{{"error":{{"type":"{kind}","param":"amount"}}}}"#);
        let rows = [
            (200, refund("succeeded"), "happened"),
            (200, refund("pending"), "accepted"),
            (200, refund("new_in_2030"), "accepted"),
            (200, refund("failed"), "refused"),
            (200, "{}".into(), "unknown"),
            (200, refund("succeeded").replace("100", "101"), "unknown"),
            (401, String::new(), "not executed"),
            (429, String::new(), "not executed"),
            (409, String::new(), "unknown"),
            (500, String::new(), "unknown"),
            (404, "<html>".into(), "unknown"),
            (400, error("idempotency_error"), "unknown"),
            (400, error("api_error"), "unknown"),
            (400, error("invalid_request_error"), "refused"),
            (402, error("card_error"), "refused"),
        ];
        for (status, body, expected) in rows {
            let sent = classify(status, body.as_bytes(), &request(), 1);
            assert_eq!(conclusion(&sent), expected, "{status} {body}");
        }
    }

    #[test]
    fn already_refunded_is_a_refusal_only_when_nothing_was_sent_before() {
        let body = br#"{"error":{"type":"invalid_request_error","code":"charge_already_refunded"}}"#;
        assert!(matches!(classify(400, body, &request(), 1), Sent::Refused(_)));
        assert!(matches!(classify(400, body, &request(), 2), Sent::Unknown(_)));
    }
}
