//! A client context: whatever it is, it names no caller but the one who was signed.
#![no_main]

use countersign::caller;
use countersign::invocation::Invocation;
use data_encoding::BASE64;
use fuzz::{ASSERTION, GATEWAY, KEYS, NOW, TOOL, with_token};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// Longer contexts are not read.
const MAXIMUM: usize = 8 * 1024;

fuzz_target!(|data: &[u8]| {
    let context = with_token(data, &ASSERTION);
    let read = Invocation::read(&context);
    let text = match BASE64.decode(context.trim_ascii()) {
        Ok(decoded) => decoded,
        Err(_) => {
            let encoded = BASE64.encode(&context);
            if encoded.len() <= MAXIMUM {
                assert_eq!(Invocation::read(encoded.as_bytes()), read, "base64 says the same");
            }
            context
        }
    };
    if let Some(assertion) = &read.assertion {
        let there: Value = serde_json::from_slice(&text).unwrap();
        let headers = &there["custom"]["bedrockAgentCorePropagatedHeaders"];
        let named = |(name, _): &(&String, &Value)| name.eq_ignore_ascii_case(caller::HEADER);
        let mut named = headers.as_object().unwrap().iter().filter(named).peekable();
        assert!(named.peek().is_some() && named.all(|(_, value)| value.as_str() == Some(assertion)), "{headers}");
        if let Ok(caller) = caller::verify(&KEYS, assertion, GATEWAY, TOOL, NOW) {
            assert_eq!(*assertion, *ASSERTION);
            assert_eq!(caller, fuzz::caller());
        }
    }
    let Ok(there) = serde_json::from_slice::<Value>(&text) else { return assert_eq!(read, Invocation::default()) };
    if read != Invocation::default() {
        let said = |name: &str| there["custom"][name].as_str();
        assert_eq!(read.tool.as_deref(), said("bedrockAgentCoreToolName"));
        assert_eq!(read.gateway.as_deref(), said("bedrockAgentCoreGatewayId"));
        let padded = [&*text, &[b' '; MAXIMUM]].concat();
        assert_eq!(Invocation::read(&padded), Invocation::default(), "longer than Lambda lets through");
    }
});
