//! Invocations: what the gateway says about a call in Lambda's client context, read leniently and trusted in nothing.
//!
//! AgentCore Gateway puts the tool's name and the propagated headers into `custom`, the headers as a nested object:
//! <https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-add-target-lambda.html>. Whatever cannot be
//! read is as if it were not there; a call without a verified caller is refused later, never ended here.

use serde::Deserialize;

use crate::caller::HEADER;
use crate::json::Members;

/// More than Lambda lets through: 3,583 bytes of base64, so less than this many of JSON.
const MAXIMUM: usize = 8 * 1024;

/// What the client context said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Invocation {
    /// The full tool name, `Target___tool`.
    pub tool: Option<String>,
    /// The gateway's id.
    pub gateway: Option<String>,
    /// The caller assertion, unverified.
    pub assertion: Option<String>,
}

#[derive(Deserialize, Default)]
struct Context<'a> {
    #[serde(borrow)]
    custom: Option<Members<'a>>,
}

impl Invocation {
    /// Reads the client context as it arrived: JSON, or its base64, as `cargo lambda watch` sends it.
    #[must_use]
    pub fn read(raw: &[u8]) -> Self {
        if raw.len() > MAXIMUM {
            return Self::default();
        }
        match data_encoding::BASE64.decode(raw.trim_ascii()) {
            Ok(decoded) => Self::read_json(&decoded),
            Err(_) => Self::read_json(raw),
        }
    }

    fn read_json(json: &[u8]) -> Self {
        let Ok(Context { custom: Some(custom) }) = serde_json::from_slice(json) else { return Self::default() };
        if custom.duplicate().is_some() {
            return Self::default();
        }
        let text = |name| custom.get(name).and_then(|raw| serde_json::from_str(raw).ok());
        let headers = custom.get("bedrockAgentCorePropagatedHeaders");
        Self {
            tool: text("bedrockAgentCoreToolName"),
            gateway: text("bedrockAgentCoreGatewayId"),
            assertion: headers.and_then(assertion),
        }
    }
}

/// The assertion among the headers. Names that differ in case alone count as one: with two different values there is none.
fn assertion(headers: &str) -> Option<String> {
    let headers: Members<'_> = serde_json::from_str(headers).ok()?;
    let mut found = headers.0.iter().filter(|(name, _)| name.eq_ignore_ascii_case(HEADER));
    let value: String = serde_json::from_str(found.next()?.1.get()).ok()?;
    found.all(|(_, other)| serde_json::from_str(other.get()).is_ok_and(|other: String| other == value)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(headers: &str) -> Vec<u8> {
        format!(
            r#"{{"custom":{{"bedrockAgentCoreToolName":"T___t","bedrockAgentCoreGatewayId":"gw",
            "bedrockAgentCoreMcpMessageId":7,"bedrockAgentCorePropagatedHeaders":{headers}}},"client":null,"w3c":{{}}}}"#
        )
        .into_bytes()
    }

    #[test]
    fn the_nested_form_is_read_as_json_and_as_base64() {
        let json = context(r#"{"X-Countersign-Caller":"eyJ"}"#);
        let read = Invocation::read(&json);
        assert_eq!(read.assertion.as_deref(), Some("eyJ"));
        assert_eq!((read.tool.as_deref(), read.gateway.as_deref()), (Some("T___t"), Some("gw")));
        assert_eq!(Invocation::read(data_encoding::BASE64.encode(&json).as_bytes()), read);
    }

    #[test]
    fn two_spellings_with_two_values_are_none() {
        let same = r#"{"x-countersign-caller":"a","X-COUNTERSIGN-CALLER":"a"}"#;
        assert_eq!(Invocation::read(&context(same)).assertion.as_deref(), Some("a"));
        let different = r#"{"x-countersign-caller":"a","X-COUNTERSIGN-CALLER":"b"}"#;
        assert_eq!(Invocation::read(&context(different)).assertion, None);
        let twice = r#"{"x-countersign-caller":"a","x-countersign-caller":"b"}"#;
        assert_eq!(Invocation::read(&context(twice)).assertion, None);
    }

    #[test]
    fn what_cannot_be_read_says_nothing() {
        let nothing = ["", "{}", "null", "[]", "7", "{", "é", r#"{"custom":null}"#, r#"{"custom":[]}"#];
        for raw in nothing.into_iter().chain([r#"{"custom":{"a":1,"a":2}}"#]) {
            assert_eq!(Invocation::read(raw.as_bytes()), Invocation::default(), "{raw}");
        }
        assert_eq!(Invocation::read(&[b' '; MAXIMUM + 1]), Invocation::default());
    }
}
