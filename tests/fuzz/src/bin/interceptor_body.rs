//! The interceptor's event: whatever is in it, the caller header is set, and names nobody whose token was not there.
#![no_main]

use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use countersign::caller::{self, HEADER};
use countersign::clock::Timestamp;
use countersign::config::Config;
use countersign::keys::{Signer, public_set};
use fuzz::{GATEWAY, KEYS, signer, with_token};
use interceptor::Interceptor;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

#[path = "../../../../functions/gateway/interceptor/src/interceptor.rs"]
mod interceptor;
#[path = "../../../../functions/gateway/interceptor/src/request.rs"]
mod request;
#[path = "../../../../functions/gateway/interceptor/src/response.rs"]
mod response;

static ISSUER: LazyLock<Signer> = LazyLock::new(|| signer(9));
/// What the issuer gave the user; it lasts until 2100.
static USER: LazyLock<String> = LazyLock::new(|| {
    let claims = json!({
        "iss": "https://issuer.example", "aud": "countersign", "exp": 4_102_444_800_i64, "tenant": "acme",
        "principal": "acme-clerk", "actor": "acme-agent", "client_id": "acme-agent-app", "roles": ["requester"],
    });
    ISSUER.sign("JWT", &claims).unwrap()
});
static INTERCEPTOR: LazyLock<Interceptor> = LazyLock::new(|| {
    let settings = [
        ("COUNTERSIGN_GATEWAY_ID", GATEWAY.to_owned()),
        ("COUNTERSIGN_ISSUER", "https://issuer.example".to_owned()),
        ("COUNTERSIGN_AUDIENCE", "countersign".to_owned()),
        ("COUNTERSIGN_ISSUER_KEYS", public_set(&[&ISSUER]).unwrap()),
        ("COUNTERSIGN_CALLER_SIGNING_KEY", fuzz::secret(7)),
    ];
    for (name, value) in settings {
        #[expect(unsafe_code, reason = "nothing else reads or writes the environment before the first input")]
        unsafe {
            std::env::set_var(name, value);
        }
    }
    let interceptor = Interceptor::from_config(&Config::from_environment()).unwrap();
    at_once(interceptor.tokens.warm());
    interceptor
});

fuzz_target!(|data: &[u8]| {
    let Ok(event) = serde_json::from_slice::<Value>(&with_token(data, &USER)) else { return };
    let answer = at_once(INTERCEPTOR.take(&event));
    assert_eq!(answer["interceptorOutputVersion"], "1.0");
    let mcp = answer["mcp"].as_object().unwrap();
    assert_eq!(mcp.len(), 1, "{answer}");
    let request = &event["mcp"]["gatewayRequest"];
    match event["mcp"].get("gatewayResponse") {
        Some(response) => after(request, response, &mcp["transformedGatewayResponse"]),
        None if request["body"].is_array() => assert_eq!(mcp["transformedGatewayResponse"]["statusCode"], 400),
        None => before(request, &mcp["transformedGatewayRequest"]),
    }
});

/// What a future gives that waits for nothing, as none does here: the issuer's keys are given as text.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits for somebody"),
    }
}

/// The message is passed on as it came, with one header: nobody, or the user whose token came with a call.
fn before(request: &Value, passed: &Value) {
    assert_eq!(passed["body"], request["body"]);
    let headers = passed["headers"].as_object().unwrap();
    assert_eq!(headers.keys().collect::<Vec<_>>(), [HEADER]);
    let header = headers[HEADER].as_str().unwrap();
    if header == "-" {
        return;
    }
    assert_eq!(request["body"]["method"], "tools/call");
    let tool = request["body"]["params"]["name"].as_str().unwrap();
    let caller = caller::verify(&KEYS, header, GATEWAY, tool, Timestamp::now()).unwrap();
    assert_eq!(caller, fuzz::caller());
    let authorization = |(name, _): &(&String, &Value)| name.eq_ignore_ascii_case("authorization");
    let found: Vec<_> = request["headers"].as_object().unwrap().iter().filter(authorization).collect();
    let [(_, value)] = found[..] else { panic!("one header: {found:?}") };
    assert!(value.as_str().unwrap().trim_end().ends_with(USER.as_str()), "{value}");
}

/// The status stays, and so does what is no tool's own word; a result that was reshaped keeps its text, and has structured
/// content only where it is no error.
fn after(request: &Value, response: &Value, passed: &Value) {
    assert_eq!(passed["statusCode"], *response.get("statusCode").unwrap_or(&json!(200)));
    let (was, is) = (&response["body"], &passed["body"]);
    if was == is {
        return;
    }
    assert_eq!(request["body"]["method"], "tools/call");
    assert_ne!(was["result"]["isError"], true);
    let result = &is["result"];
    assert_eq!(result["content"][0]["text"], was["result"]["content"][0]["text"]);
    let answer: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    let failed = answer.get("error").is_some();
    assert_eq!(result["isError"], failed);
    assert_eq!(result.get("structuredContent").cloned(), (!failed).then_some(answer));
}
