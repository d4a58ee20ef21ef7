//! Stand-ins for the functions: a tool that says what it is told to, and an interceptor that names callers by token.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use local::mcp::{Authorizer, Functions, ListedTool, Settings, any_token, router};
use serde_json::{Value, json};

/// How the interceptor behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interceptor {
    /// As described: names the caller, translates the answer.
    Sound,
    /// A function error in the REQUEST half.
    Fails,
    /// Lets requests pass without naming anyone.
    NamesNobody,
    /// Turns every answer into a question to the user.
    Asks,
    /// A function error in the RESPONSE half.
    FailsAfterwards,
}

/// One invocation of the tool's function.
#[derive(Clone)]
pub(crate) struct Invocation {
    pub(crate) function: String,
    pub(crate) payload: Value,
    pub(crate) context: Value,
}

/// The functions behind an endpoint under test.
pub(crate) struct Double {
    interceptor: Interceptor,
    returns: Result<Value, String>,
    invocations: Mutex<Vec<Invocation>>,
}

impl Double {
    pub(crate) fn returning(returns: Value) -> Self {
        Self { interceptor: Interceptor::Sound, returns: Ok(returns), invocations: Mutex::default() }
    }

    pub(crate) fn failing(error: &str) -> Self {
        Self { returns: Err(error.to_owned()), ..Self::returning(Value::Null) }
    }

    pub(crate) fn sound() -> Self {
        Self::returning(json!({ "operation_id": "op_1", "state": "queued" }))
    }

    pub(crate) fn with(self, interceptor: Interceptor) -> Self {
        Self { interceptor, ..self }
    }

    pub(crate) fn invocations(&self) -> Vec<Invocation> {
        self.invocations.lock().unwrap().clone()
    }

    fn intercept(&self, event: &Value) -> Result<Value, String> {
        let mcp = &event["mcp"];
        let answer = match (mcp.get("gatewayResponse"), self.interceptor) {
            (None, Interceptor::Fails) | (Some(_), Interceptor::FailsAfterwards) => {
                return Err("interceptor is broken: secret".to_owned());
            }
            (None, mode) => before(&mcp["gatewayRequest"], mode),
            (Some(_), Interceptor::Asks) => {
                json!({ "transformedGatewayResponse": { "statusCode": 200, "body": { "result": question() } } })
            }
            (Some(response), _) => {
                json!({ "transformedGatewayResponse": { "statusCode": 200, "body": translated(&response["body"]) } })
            }
        };
        Ok(json!({ "interceptorOutputVersion": "1.0", "mcp": answer }))
    }
}

/// A question of the 2026 generation.
pub(crate) fn question() -> Value {
    let schema = json!({ "type": "object", "properties": { "sure": { "type": "boolean" } } });
    json!({
        "resultType": "input_required",
        "inputRequests": {
            "confirm": {
                "method": "elicitation/create",
                "params": { "mode": "form", "message": "Reset?", "requestedSchema": schema },
            },
        },
        "requestState": "sealed",
    })
}

/// The REQUEST half. The token `stranger` is answered at once.
fn before(request: &Value, mode: Interceptor) -> Value {
    let token = request["headers"]["authorization"].as_str().unwrap().trim_start_matches("Bearer ");
    if token == "stranger" {
        let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32001, "message": "who are you" } });
        return json!({ "transformedGatewayResponse": { "statusCode": 403, "headers": { "x-why": "strange" }, "body": error } });
    }
    let caller = if request["body"]["method"] == "tools/call" { format!("caller:{token}") } else { "-".to_owned() };
    let named = json!({ "X-Countersign-Caller": caller });
    let headers = if mode == Interceptor::NamesNobody { json!({}) } else { named };
    json!({ "transformedGatewayRequest": { "headers": headers, "body": request["body"] } })
}

/// The RESPONSE half: a returned `error` is an error, anything else is structured content.
fn translated(body: &Value) -> Value {
    let mut body = body.clone();
    if body["result"]["isError"] == json!(true) {
        return body;
    }
    let text = body["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    let returned: Value = serde_json::from_str(&text).unwrap();
    let failed = returned.get("error").is_some();
    body["result"] = json!({ "content": [{ "type": "text", "text": text }], "isError": failed });
    if !failed {
        body["result"]["structuredContent"] = returned;
    }
    body
}

impl Functions for Double {
    fn invoke<'a>(
        &'a self,
        function: &'a str,
        payload: Bytes,
        client_context: Option<Bytes>,
    ) -> BoxFuture<'a, Result<Bytes, String>> {
        let payload: Value = serde_json::from_slice(&payload).unwrap();
        let answer = if function == "interceptor" {
            self.intercept(&payload)
        } else {
            let context = serde_json::from_slice(&client_context.unwrap()).unwrap();
            self.invocations.lock().unwrap().push(Invocation { function: function.to_owned(), payload, context });
            self.returns.clone()
        };
        async move { answer.map(|answer| Bytes::from(answer.to_string())) }.boxed()
    }
}

/// A contract as a tool's binary prints it.
pub(crate) fn contract() -> Value {
    json!({
        "name": "submit_refund",
        "title": "Submit a refund",
        "description": "Submits an approved refund.",
        "version": 1,
        "tier": "money",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "proposal_id": { "type": "string", "pattern": "^prop_[a-z2-7]{26}$" },
                "amount_minor": { "type": "integer", "minimum": 1, "maximum": 1_000_000 },
                "currency": { "type": "string", "enum": ["EUR", "USD", "GBP", "JPY", "KWD", "ISK"] },
            },
            "required": ["proposal_id"],
            "additionalProperties": false,
        },
        "outputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "operation_id": { "type": "string" },
                "state": { "type": "string", "enum": ["queued", "succeeded"] },
            },
            "required": ["operation_id", "state"],
            "additionalProperties": false,
        },
        "annotations": {
            "readOnlyHint": false, "destructiveHint": true, "idempotentHint": true, "openWorldHint": false,
        },
        "maxResponseBytes": 64,
    })
}

/// The full name of the tool.
pub(crate) const TOOL: &str = "SubmitRefund___submit_refund";

/// Arguments that the input schema takes.
pub(crate) fn arguments() -> Value {
    json!({ "proposal_id": "prop_abcdefghijklmnopqrstuvwxyz", "amount_minor": 1250 })
}

/// An endpoint over these functions, and its URL.
pub(crate) async fn endpoint(functions: &Arc<Double>) -> String {
    endpoint_for(functions, any_token()).await
}

/// The same, with a judge of tokens.
pub(crate) async fn endpoint_for(functions: &Arc<Double>, authorizer: Authorizer) -> String {
    let tools = vec![ListedTool { target: "SubmitRefund".to_owned(), contract: contract() }];
    let settings = Settings {
        gateway_id: "gw-test".to_owned(),
        issuer: "http://issuer.test".to_owned(),
        authorizer,
        shutdown: tokio_util::sync::CancellationToken::new(),
    };
    let base = crate::serve(router(tools, Arc::clone(functions), settings).unwrap()).await;
    format!("{base}/mcp")
}
