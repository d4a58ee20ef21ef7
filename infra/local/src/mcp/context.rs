//! The client context in which a tool finds who calls it and through which gateway.

use bytes::Bytes;
use data_encoding::HEXLOWER;
use serde_json::json;

use super::gate::CALLER_HEADER;

/// The most bytes of a client context once base64-encoded
/// (<https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html>).
const MAX_ENCODED_BYTES: usize = 3_583;

/// One tool call, as the gateway describes it to the function.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// The full name, `<Target>___<tool>`.
    pub(super) tool: &'a str,
    /// The gateway target. AgentCore makes up an id of its own; here the target's name is its id.
    pub(super) target: &'a str,
    /// This gateway.
    pub(super) gateway_id: &'a str,
    /// The JSON-RPC id, as text. It is the client's choice and repeats.
    pub(super) message_id: String,
    /// What the interceptor said about the caller.
    pub(super) caller: &'a str,
}

/// A context larger than Lambda takes.
#[derive(Debug, thiserror::Error)]
#[error("client context of {0} bytes is more than Lambda takes; make the caller assertion smaller")]
pub(super) struct TooLarge(usize);

impl Call<'_> {
    /// The client context as JSON, in the shape AgentCore Gateway sends: all strings but the propagated headers.
    pub(super) fn client_context(&self) -> Result<Bytes, TooLarge> {
        let context = json!({ "custom": {
            "bedrockAgentCoreMessageVersion": "1.0",
            "bedrockAgentCoreAwsRequestId": request_id(),
            "bedrockAgentCoreMcpMessageId": self.message_id,
            "bedrockAgentCoreGatewayId": self.gateway_id,
            "bedrockAgentCoreTargetId": self.target,
            "bedrockAgentCoreToolName": self.tool,
            "bedrockAgentCorePropagatedHeaders": { CALLER_HEADER: self.caller },
        }})
        .to_string();
        let encoded = context.len().div_ceil(3) * 4;
        if encoded > MAX_ENCODED_BYTES { Err(TooLarge(encoded)) } else { Ok(Bytes::from(context)) }
    }
}

/// A random id in the form of AWS request ids. Without entropy it is all zeros: it only correlates log lines.
fn request_id() -> String {
    let mut random = [0_u8; 16];
    let _ = getrandom::fill(&mut random);
    let hex = HEXLOWER.encode(&random);
    let part = |range| hex.get(range).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0..8), part(8..12), part(12..16), part(16..20), part(20..32))
}
