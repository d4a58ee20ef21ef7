//! The protocol's handler: lists the tools, and takes one call through its function and the RESPONSE interceptor.

use std::sync::Arc;

use bytes::Bytes;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult, PaginatedRequestParams,
        ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::{
    catalog::{Catalog, Entry},
    context::Call,
    functions::Functions,
    gate::Admitted,
    interceptor::Interceptor,
    outcome,
};

const INSTRUCTIONS: &str = "Business tools that move money only as a person approved it. \
    Read a tool's `error.next_step` before you call again, and repeat a submit with the same idempotency key.";

/// One endpoint's handler; cheap to clone, as every session has its own.
#[derive(Clone)]
pub(super) struct Server {
    catalog: Arc<Catalog>,
    functions: Arc<dyn Functions>,
    interceptor: Interceptor,
    gateway_id: Arc<str>,
}

impl Server {
    pub(super) fn new(
        catalog: Arc<Catalog>,
        functions: Arc<dyn Functions>,
        interceptor: Interceptor,
        gateway_id: String,
    ) -> Self {
        Self { catalog, functions, interceptor, gateway_id: gateway_id.into() }
    }

    /// Invokes the tool's function; the result is what AgentCore makes of its return value.
    async fn invoke(&self, entry: &Entry, arguments: &Value, caller: &str, message_id: String) -> Value {
        let call =
            Call { tool: &entry.tool.name, target: &entry.target, gateway_id: &self.gateway_id, message_id, caller };
        let context = match call.client_context() {
            Ok(context) => context,
            Err(error) => {
                tracing::error!(tool = %entry.tool.name, error = &error as &dyn std::error::Error, "not invoked");
                return json!(outcome::internal());
            }
        };
        let payload = Bytes::from(arguments.to_string());
        // In a task of its own: a client that goes away must not take a started invocation with it.
        let (functions, function) = (Arc::clone(&self.functions), entry.function.clone());
        let invocation = tokio::spawn(async move { functions.invoke(&function, payload, Some(context)).await });
        let returned = match invocation.await {
            Ok(returned) => returned.and_then(json_text),
            Err(error) => Err(error.to_string()),
        };
        match returned {
            Ok(text) => json!({ "content": [{ "type": "text", "text": text }], "isError": false }),
            Err(error) => {
                tracing::error!(tool = %entry.tool.name, %error, "function error");
                json!(outcome::internal())
            }
        }
    }

    /// Shows the result to the RESPONSE interceptor and checks what comes back.
    async fn respond(&self, entry: &Entry, admitted: &Admitted, id: Value, result: Value) -> Outcome {
        let response = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        let mut response = match self.interceptor.response(&admitted.raw, &admitted.request, &response).await {
            Ok(response) => response,
            Err(error) => {
                tracing::error!(tool = %entry.tool.name, error = &error as &dyn std::error::Error, "answer withheld");
                return Ok(outcome::internal().into());
            }
        };
        if let Some(error) = response.get_mut("error").map(Value::take) {
            return Err(serde_json::from_value(error)
                .unwrap_or_else(|_| ErrorData::internal_error("the gateway could not answer", None)));
        }
        let result = response.get_mut("result").map(Value::take).unwrap_or_default();
        outcome::fit(entry, result).or_else(|error| {
            tracing::error!(tool = %entry.tool.name, error = &error as &dyn std::error::Error, "answer withheld");
            Ok(outcome::internal().into())
        })
    }
}

type Outcome = Result<CallToolResponse, ErrorData>;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("countersign-local", env!("CARGO_PKG_VERSION"))
                    .with_title("Countersign, local gateway"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.catalog.tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.catalog.get(name).map(|entry| entry.tool.clone())
    }

    async fn call_tool(&self, call: CallToolRequestParams, context: RequestContext<RoleServer>) -> Outcome {
        let Some(admitted) =
            context.extensions.get::<http::request::Parts>().and_then(|parts| parts.extensions.get::<Admitted>())
        else {
            return Err(ErrorData::internal_error("the call did not come through the gate", None));
        };
        let Some(entry) = self.catalog.get(&call.name) else {
            let message = format!("unknown tool `{}`; see tools/list", outcome::shorten(&call.name));
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = Value::Object(call.arguments.unwrap_or_default());
        if let Err(violation) = entry.input.validate(&arguments) {
            return Ok(outcome::invalid_input(&violation).into());
        }
        let result = self.invoke(entry, &arguments, &admitted.caller, context.id.to_string()).await;
        self.respond(entry, admitted, context.id.into_json_value(), result).await
    }
}

/// The return value as text, if it is JSON at all: a Lambda function can return anything.
fn json_text(returned: Bytes) -> Result<String, String> {
    serde_json::from_slice::<IgnoredAny>(&returned).map_err(|error| format!("return value is not JSON: {error}"))?;
    String::from_utf8(returned.into()).map_err(|error| error.to_string())
}
