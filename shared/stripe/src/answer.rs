//! What each answer to a request for a refund proves. What is not understood proves nothing: `unknown`, never `failed`.
//!
//! Statuses and errors: <https://docs.stripe.com/api/errors>, <https://docs.stripe.com/error-low-level>.

use countersign::delivery::Sent;
use serde::Deserialize;

use crate::object::{RefundObject, Standing, word};
use crate::request::Request;
use crate::wire::Answer;

/// The largest answer that is read. A refund object has some two kilobytes.
pub(crate) const LARGEST: usize = 64 * 1024;

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

impl ErrorObject {
    /// Its most telling word.
    fn what(&self) -> String {
        word(self.code.as_ref().or(self.param.as_ref()).unwrap_or(&self.r#type))
    }

    /// Whether the request was malformed, which is a fault of this code's.
    fn is_ours(&self) -> bool {
        let code = self.code.as_deref().unwrap_or_default();
        ["parameter_unknown", "parameter_missing", "parameters_exclusive"].contains(&code)
            || code.starts_with("parameter_invalid_")
    }

    /// Whether it says that less is left of the payment than was asked for. An amount beyond what is left has no code,
    /// only the parameter.
    fn is_about_what_is_left(&self) -> bool {
        self.code.as_deref() == Some("charge_already_refunded") || self.param.as_deref() == Some("amount")
    }
}

/// What an answer to the `attempt`th request proves.
pub(crate) fn classify(answer: &Answer, request: &Request, attempt: i64) -> Sent {
    match answer.status {
        200 => accepted(answer, request),
        // Checked before anything is done or stored under the key.
        401 | 403 => Sent::NotExecuted("the provider does not accept the key".to_owned()),
        // The limiters as well (<https://docs.stripe.com/rate-limits>).
        429 => Sent::NotExecuted("the provider asks to slow down".to_owned()),
        // Not Stripe's last word, so no refusal for good.
        400 | 402 | 404 if answer.should_retry => {
            Sent::Unknown("the provider asks for the same request again".to_owned())
        }
        400 | 402 | 404 => refused(&answer.body, attempt),
        // 409: the first request with this key is still at it. 424 and 500 and more: it may have been done all the same,
        // and where such an answer is replayed, it is the first one's, so that repeating it finds nothing out.
        status => Sent::Unknown(format!("the provider answered {status}")),
    }
}

/// Says what went wrong to whoever runs this, with the name by which Stripe's support finds it.
pub(crate) fn log(answer: &Answer, attempt: i64) {
    let error = serde_json::from_slice::<ErrorBody>(&answer.body).ok().map(|body| body.error);
    let what = error.as_ref().map(ErrorObject::what).unwrap_or_default();
    let Answer { status, replayed, request_id, .. } = answer;
    match (status, error) {
        (200, _) => {}
        (400 | 404, Some(error)) if error.is_ours() => {
            tracing::error!(
                status,
                what,
                replayed,
                request_id,
                attempt,
                "the provider calls a request of ours malformed"
            );
        }
        _ => tracing::warn!(status, what, replayed, request_id, attempt, "the provider did not accept a request"),
    }
}

fn accepted(answer: &Answer, request: &Request) -> Sent {
    let Ok(refund) = serde_json::from_slice::<RefundObject>(&answer.body) else {
        return Sent::Unknown("the provider's answer cannot be read".to_owned());
    };
    if refund.differs(request).is_some() {
        return Sent::Unknown("the provider answered about another refund".to_owned());
    }
    let Some(reference) = refund.reference() else {
        return Sent::Unknown("the provider's answer names no refund".to_owned());
    };
    match refund.standing() {
        // What is given again is the first answer, whichever attempt of ours this is (a restored ledger counts from the
        // beginning): the refund is there, and may have come back since. A lookup says how it stands
        // (<https://docs.stripe.com/api/idempotent_requests>).
        Standing::Succeeded if answer.replayed => Sent::Accepted(reference),
        Standing::Succeeded => Sent::Happened(reference),
        Standing::Undone(reason) => Sent::Refused(reason),
        Standing::Open => Sent::Accepted(reference),
    }
}

fn refused(body: &[u8], attempt: i64) -> Sent {
    let Ok(ErrorBody { error }) = serde_json::from_slice(body) else {
        return Sent::Unknown("the provider's refusal cannot be read".to_owned());
    };
    let what = error.what();
    match error.r#type.as_str() {
        // Something else was sent under this key before.
        "idempotency_error" => Sent::Unknown("the key was used for another request".to_owned()),
        // Nothing is stored where the parameters do not pass (<https://docs.stripe.com/api/idempotent_requests>).
        "invalid_request_error" if error.is_ours() => {
            Sent::Refused(format!("malformed request, a fault of this service: {what}"))
        }
        // What is missing may be what an earlier attempt of this very refund took.
        "invalid_request_error" | "card_error" if attempt > 1 && error.is_about_what_is_left() => Sent::Unknown(what),
        "invalid_request_error" | "card_error" => Sent::Refused(what),
        _ => Sent::Unknown(what),
    }
}

#[cfg(test)]
mod tests;
