//! `resolve_refund`: an operator sees what needs a person, and says what became of it and how it was found out.
//!
//! It is no tool and no gateway lists it: it takes a person's own token, for an audience that no agent gets.
//! `GET` lists, `GET` with an `operation_id` shows one, and `POST` is the operator's word. No `GET` changes anything.

use std::collections::HashMap;

use aws_lambda_events::lambda_function_urls::{LambdaFunctionUrlRequest, LambdaFunctionUrlResponse};
use countersign::bounded::{Nonce, OperationId};
use countersign::caller::Caller;
use countersign::clock::Timestamp;
use countersign::command::execute;
use countersign::delivery::{Look, Place, Resolution, Resolve, waiting};
use countersign::failure::{Code, Failure};
use countersign::ledger::Dynamo;
use countersign::operation::Operation;
use data_encoding::BASE64;
use http::header::{ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use refunds::{EXCEEDS_REFUNDABLE, Refund};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokens::{Nobody, Tokens};

use crate::view;

/// The largest body: an id, a word, and evidence of 500 characters, escaped.
const LARGEST: usize = 8 * 1024;

/// The function.
pub(crate) struct ResolveRefund {
    /// Where operations lie.
    pub(crate) ledger: Dynamo,
    /// Who is recognized.
    pub(crate) tokens: Tokens,
}

/// The body of the request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    operation_id: OperationId,
    outcome: Resolution,
    evidence: String,
    /// The `version` of the operation that the operator was shown.
    #[serde(default)]
    version: Option<Nonce>,
}

/// The answer.
#[derive(Debug, Serialize)]
struct Output<'a> {
    operation_id: &'a OperationId,
    state: &'static str,
    resolution: Option<&'a str>,
}

impl ResolveRefund {
    /// Handles one request.
    pub(crate) async fn take(&self, request: &LambdaFunctionUrlRequest) -> LambdaFunctionUrlResponse {
        let answered = match request.request_context.http.method.as_deref() {
            Some("GET") => self.get(request).await,
            Some("POST") => self.post(request).await,
            Some(_) | None => return answer(StatusCode::METHOD_NOT_ALLOWED, "use GET or POST\n".to_owned()),
        };
        match answered {
            Ok(value) => answer(StatusCode::OK, value.to_string()),
            Err(failure) => {
                tracing::info!(code = failure.code().as_str(), cause = failure.causes(), "refused");
                answer(status(failure.code()), json!(failure).to_string())
            }
        }
    }

    async fn get(&self, request: &LambdaFunctionUrlRequest) -> Result<Value, Failure> {
        let by = self.person(&request.headers).await?;
        match asked(&request.query_string_parameters)? {
            Asked::List(after) => Ok(view::list(&waiting::<Refund>(&self.ledger, &by, after).await?)),
            Asked::One(operation) => {
                let look = Look::<Refund>::new(&by, operation)?;
                view::one(&execute(&self.ledger, &Timestamp::now, &look).await?)
            }
        }
    }

    async fn post(&self, request: &LambdaFunctionUrlRequest) -> Result<Value, Failure> {
        let by = self.person(&request.headers).await?;
        let Operation { id, state, resolution, .. } = &self.resolve(&by, &body(request)?).await?;
        Ok(json!(Output { operation_id: id, state: state.as_str(), resolution: resolution.as_deref() }))
    }

    /// The person whose token it is.
    async fn person(&self, headers: &HeaderMap) -> Result<Caller, Failure> {
        let mut given = headers.get_all(AUTHORIZATION).into_iter();
        let token = given.next().and_then(|value| value.to_str().ok()?.split_once(' '));
        let Some((_, token)) =
            token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer") && given.next().is_none())
        else {
            return Err(Failure::unauthenticated());
        };
        let by = self.tokens.caller(token.trim()).await.map_err(|nobody| match nobody {
            Nobody::Refused(why) => Failure::unauthenticated().because(why),
            Nobody::Unverifiable => Failure::temporarily_unavailable("the issuer's keys cannot be had"),
        })?;
        if by.actor.is_some() {
            return Err(Failure::forbidden("an agent decides nothing here, for whomever it acts"));
        }
        Ok(by)
    }

    async fn resolve(&self, by: &Caller, body: &[u8]) -> Result<Operation<Refund>, Failure> {
        let Input { operation_id, outcome, evidence, version } = input(body)?;
        let resolve = Resolve::<Refund>::new(by, operation_id, outcome, &evidence)?.of(version);
        let operation = execute(&self.ledger, &Timestamp::now, &resolve).await?;
        let (tenant, operation_id, by) = (operation.tenant.as_str(), operation.id.as_str(), by.principal.as_str());
        tracing::info!(tenant, operation_id, state = operation.state.as_str(), by, "resolved");
        Ok(operation)
    }
}

/// What a `GET` asks for.
enum Asked {
    /// What waits for a person, after this place.
    List(Option<Place>),
    /// One operation.
    One(OperationId),
}

fn asked(query: &HashMap<String, String>) -> Result<Asked, Failure> {
    let mut asked = Asked::List(None);
    for (name, value) in query {
        let refused = |why: countersign::bounded::Refused| Failure::invalid_input(name, why.to_string());
        asked = match name.as_str() {
            "operation_id" if query.len() == 1 => Asked::One(OperationId::parse(value).map_err(refused)?),
            "after" if query.len() == 1 => Asked::List(Some(Place::parse(value).map_err(refused)?)),
            _ => {
                return Err(Failure::invalid_input(
                    "query",
                    "ask for one `operation_id`, or for what is `after` a place",
                ));
            }
        };
    }
    Ok(asked)
}

/// The bytes of the body, as far as there may be any.
fn body(request: &LambdaFunctionUrlRequest) -> Result<Vec<u8>, Failure> {
    let text = request.body.as_deref().unwrap_or_default();
    if text.len() > LARGEST {
        return Err(Failure::invalid_input("body", format!("send at most {LARGEST} bytes")));
    }
    if request.is_base64_encoded {
        return BASE64.decode(text.as_bytes()).map_err(|_| Failure::invalid_input("body", "send JSON"));
    }
    Ok(text.as_bytes().to_vec())
}

/// What the body says. An array, which serde would take for the members in their order, is none.
fn input(body: &[u8]) -> Result<Input, Failure> {
    let shape = "send {\"operation_id\": \"op_...\", \"outcome\": \"succeeded\" or \"failed\", \"evidence\": \"...\"}";
    let object = body.trim_ascii_start().starts_with(b"{");
    let input = serde_json::from_slice(body).ok().filter(|_| object);
    input.ok_or_else(|| Failure::invalid_input("body", shape))
}

fn status(code: Code) -> StatusCode {
    match code {
        Code::INVALID_INPUT => StatusCode::BAD_REQUEST,
        Code::UNAUTHENTICATED => StatusCode::UNAUTHORIZED,
        Code::FORBIDDEN => StatusCode::FORBIDDEN,
        Code::NOT_FOUND => StatusCode::NOT_FOUND,
        Code::NOT_WAITING | EXCEEDS_REFUNDABLE => StatusCode::CONFLICT,
        Code::TEMPORARILY_UNAVAILABLE => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn answer(status: StatusCode, body: String) -> LambdaFunctionUrlResponse {
    let mut headers = HeaderMap::new();
    let plain = status == StatusCode::METHOD_NOT_ALLOWED;
    let kind = if plain { "text/plain; charset=utf-8" } else { "application/json" };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, POST"));
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    let mut response = LambdaFunctionUrlResponse::default();
    response.status_code = status.as_u16().into();
    response.headers = headers;
    response.body = Some(body);
    response
}
