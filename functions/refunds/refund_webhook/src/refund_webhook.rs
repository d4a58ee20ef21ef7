//! `refund_webhook`: Stripe says that something has happened to a refund; what, it is asked.
//!
//! An event is a hint, however well it is signed: it may be late, early, repeated, or of a refund that is not ours. So it
//! only makes this function look where the schedule would have looked a minute later, or, at a refund that had succeeded,
//! never again. Answers: <https://docs.stripe.com/webhooks#webhook-endpoint-def>.

use aws_lambda_events::lambda_function_urls::{LambdaFunctionUrlRequest, LambdaFunctionUrlResponse};
use countersign::clock::Timestamp;
use countersign::delivery::{Outcome, attempt, reconcile, target_of};
use countersign::failure::{Code, Failure};
use countersign::ledger::Dynamo;
use countersign::operation::{State, Worker};
use data_encoding::BASE64;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use refunds::Refund;
use stripe::Stripe;
use stripe::webhook::{Event, Refused, Secrets, verify};

/// The header with the signature.
const SIGNATURE: &str = "stripe-signature";

/// The function.
pub(crate) struct RefundWebhook {
    /// Where operations lie.
    pub(crate) ledger: Dynamo,
    /// Who is asked.
    pub(crate) provider: Stripe,
    /// By which it is known who sends.
    pub(crate) secrets: Secrets,
}

impl RefundWebhook {
    /// Handles one delivery. Whatever is not answered with success comes again.
    pub(crate) async fn take(&self, request: &LambdaFunctionUrlRequest) -> LambdaFunctionUrlResponse {
        if request.request_context.http.method.as_deref() != Some("POST") {
            return answer(StatusCode::METHOD_NOT_ALLOWED, "send a POST");
        }
        let event = match self.verified(request) {
            Ok(event) => event,
            Err(refused) => {
                tracing::warn!(why = refused.to_string(), "refused a delivery");
                let status = match refused {
                    Refused::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
                    Refused::Header | Refused::Signature | Refused::Time | Refused::Event => StatusCode::BAD_REQUEST,
                };
                return answer(status, &refused.to_string());
            }
        };
        match self.hint(&event).await {
            Ok(what) => answer(StatusCode::OK, what),
            Err(failure) => {
                tracing::warn!(event = event.id, cause = failure.causes(), "will be delivered again");
                answer(StatusCode::SERVICE_UNAVAILABLE, "not now; deliver it again")
            }
        }
    }

    fn verified(&self, request: &LambdaFunctionUrlRequest) -> Result<Event, Refused> {
        let signature = request.headers.get(SIGNATURE).and_then(|value| value.to_str().ok()).ok_or(Refused::Header)?;
        let body = request.body.as_deref().unwrap_or_default();
        let now = Timestamp::now();
        if !request.is_base64_encoded {
            return verify(&self.secrets, signature, body.as_bytes(), now);
        }
        let body = BASE64.decode(body.as_bytes()).map_err(|_| Refused::Event)?;
        verify(&self.secrets, signature, &body, now)
    }

    /// Looks at the refund that the event is about, if it is one of ours.
    async fn hint(&self, event: &Event) -> Result<&'static str, Failure> {
        let Some(hint) = &event.refund else { return Ok("not about a refund that was asked for here") };
        let target = match target_of::<Refund>(&self.ledger, &hint.tenant, &hint.intent).await {
            // Who has an account of their own at the platform writes into metadata what they like, and whose they like.
            Ok(Some((target, refund))) if refund.payment == hint.payment => target,
            Ok(Some(_) | None) => return Ok("not about a refund that was asked for here"),
            Err(failure) if failure.code() == Code::INTERNAL => {
                let (tenant, cause) = (hint.tenant.as_str(), failure.causes());
                tracing::error!(alarm = "parked", tenant, intent_id = hint.intent.as_str(), cause, "parked");
                return Ok("parked");
            }
            Err(failure) => return Err(failure),
        };
        let looked = async {
            let outcome = reconcile::<Refund, _>(&self.ledger, &Timestamp::now, &self.provider, &target).await?;
            if hint.undone && unheard(outcome) { Err(Failure::temporarily_unavailable(UNHEARD)) } else { Ok(outcome) }
        };
        attempt(Worker::Reconcile, &target, looked).await?;
        Ok("looked at")
    }
}

const UNHEARD: &str = "the event says that the refund came to nothing, and the look did not show it";

/// Whether nobody would ever look again although it came to nothing: it counts as a success, or will once its worker has
/// recorded the answer that it got before. Everywhere else the schedule goes on looking, or a person does.
const fn unheard(outcome: Outcome) -> bool {
    match outcome.state {
        State::Sending | State::Succeeded => !outcome.conflict,
        State::Queued
        | State::Settling
        | State::Unknown
        | State::NeedsOperator
        | State::Returned
        | State::Failed
        | State::Cancelled
        | State::Expired => false,
    }
}

fn answer(status: StatusCode, text: &str) -> LambdaFunctionUrlResponse {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("POST"));
    }
    let mut response = LambdaFunctionUrlResponse::default();
    response.status_code = status.as_u16().into();
    response.headers = headers;
    response.body = Some(format!("{text}\n"));
    response
}
