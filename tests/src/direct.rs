//! Direct invocations: a function's bytes and client context, without the gateway's own validation in between.

use bytes::Bytes;
use countersign::caller::{self, Caller, HEADER};
use countersign::clock::Timestamp;
use countersign::keys::Signer;
use countersign::tool::full_name;
use local::gateway::GATEWAY_ID;
use local::lambda::Invoked;
use serde_json::{Value, json};

use crate::App;

/// Invokes functions as one caller.
pub struct Direct<'a> {
    app: &'a App,
    caller: Caller,
}

impl App {
    /// Invokes functions as a persona, with an assertion as the interceptor signs it.
    pub fn direct(&self, persona: &str) -> Direct<'_> {
        Direct { app: self, caller: self.caller(persona) }
    }

    /// Invokes functions as any caller.
    pub fn direct_as(&self, caller: Caller) -> Direct<'_> {
        Direct { app: self, caller }
    }

    /// Invokes a function with these very bytes, and gives what it answered. A function error fails the test.
    pub async fn raw(&self, tool: &str, payload: impl Into<Bytes>, client_context: Option<Bytes>) -> Bytes {
        match self.gateway.lambda().invoke(tool, payload.into(), client_context).await {
            Invoked::Answered(answer) => answer,
            other => panic!("{tool} did not answer: {other:?}"),
        }
    }

    /// An assertion for a tool, signed with the interceptor's key.
    pub fn assertion(&self, caller: &Caller, tool: &str) -> String {
        let signer = Signer::parse(self.gateway.keys().caller()).unwrap();
        caller::mint(&signer, caller, GATEWAY_ID, &full_name(tool), Timestamp::now()).unwrap()
    }
}

impl Direct<'_> {
    /// Calls a tool with arguments.
    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.bytes(tool, arguments.to_string()).await
    }

    /// Calls a tool with these very bytes as its arguments.
    pub async fn bytes(&self, tool: &str, payload: impl Into<Bytes>) -> Value {
        let context = client_context(tool, &self.app.assertion(&self.caller, tool));
        serde_json::from_slice(&self.app.raw(tool, payload, Some(context)).await).unwrap()
    }
}

/// The client context as AgentCore Gateway makes it, with this caller header.
pub fn client_context(tool: &str, assertion: &str) -> Bytes {
    json!({
        "custom": {
            "bedrockAgentCoreMessageVersion": "1.0",
            "bedrockAgentCoreAwsRequestId": "0b8b4e2c-0000-4000-8000-000000000000",
            "bedrockAgentCoreMcpMessageId": "7",
            "bedrockAgentCoreGatewayId": GATEWAY_ID,
            "bedrockAgentCoreTargetId": "TARGET0001",
            "bedrockAgentCoreToolName": full_name(tool),
            "bedrockAgentCorePropagatedHeaders": { HEADER: assertion },
        }
    })
    .to_string()
    .into()
}
