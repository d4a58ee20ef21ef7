//! A real MCP client, as an agent would have one: `rmcp` over Streamable HTTP.

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation, JsonObject, Tool,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceError};
use serde_json::Value;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The endpoint did not let the client in.
    #[error("the endpoint did not let the client in: {0}")]
    Connect(Box<dyn std::error::Error + Send + Sync>),
    /// The call was refused by the protocol.
    #[error("the call was refused by the protocol: {0}")]
    Call(#[from] Box<ServiceError>),
    /// A result that is neither structured nor a JSON text.
    #[error("the answer is neither structured nor a JSON text")]
    Answer,
}

/// An agent's connection to an MCP endpoint.
pub struct Client(RunningService<RoleClient, ClientConfig>);

impl Client {
    /// Connects with a bearer token, by the protocol's `initialize`.
    ///
    /// # Errors
    /// When the endpoint does not let the client in.
    pub async fn connect(url: &str, token: &str) -> Result<Self, ClientError> {
        let transport = StreamableHttpClientTransportConfig::with_uri(url).auth_header(token);
        let me = Implementation::new("countersign-demo", env!("CARGO_PKG_VERSION"));
        let config = ClientConfig::new(ClientCapabilities::default(), me);
        let transport = StreamableHttpClientTransport::from_config(transport);
        let connected = config.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await;
        connected.map(Self).map_err(|error| ClientError::Connect(error.into()))
    }

    /// All tools.
    ///
    /// # Errors
    /// When the endpoint does not answer.
    pub async fn tools(&self) -> Result<Vec<Tool>, ClientError> {
        Ok(self.0.list_all_tools().await.map_err(Box::new)?)
    }

    /// Calls a tool by its own name; the gateway's name for it is made here.
    ///
    /// # Errors
    /// When the protocol refuses the call. A tool's own failure is an answer.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Answer, ClientError> {
        self.call_full(countersign::tool::full_name(tool), arguments).await
    }

    /// Calls a tool by the gateway's name for it.
    ///
    /// # Errors
    /// When the protocol refuses the call. A tool's own failure is an answer.
    pub async fn call_full(&self, tool: String, arguments: Value) -> Result<Answer, ClientError> {
        let arguments: JsonObject = serde_json::from_value(arguments).map_err(|_| ClientError::Answer)?;
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self.0.call_tool(request).await.map_err(Box::new)?;
        Answer::of(result)
    }

    /// Says goodbye.
    pub async fn close(self) {
        // Whether the endpoint heard it makes no difference to anyone.
        let _ = self.0.cancel().await;
    }
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Whether it is a failure.
    pub is_error: bool,
    /// The answer as a value.
    pub value: Value,
}

impl Answer {
    fn of(result: CallToolResult) -> Result<Self, ClientError> {
        let is_error = result.is_error == Some(true);
        let text = result.content.first().and_then(|block| block.as_text()).map(|text| text.text.as_str());
        let value = match (result.structured_content, text) {
            (Some(value), _) => value,
            (None, Some(text)) => serde_json::from_str(text).map_err(|_| ClientError::Answer)?,
            (None, None) => return Err(ClientError::Answer),
        };
        Ok(Self { is_error, value })
    }

    /// A text of the answer, empty where there is none.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.value.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// The code of a failure, or `ok`.
    #[must_use]
    pub fn code(&self) -> &str {
        match self.is_error {
            true => self.value.pointer("/error/code").and_then(Value::as_str).unwrap_or_default(),
            false => "ok",
        }
    }
}
