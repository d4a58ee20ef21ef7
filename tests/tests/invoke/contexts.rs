//! Client contexts: whatever a call brings is answered, and the next call on the same process works.

use std::time::Duration;

use bytes::Bytes;
use countersign::caller::{self, Caller, HEADER};
use countersign::clock::Timestamp;
use countersign::keys::Signer;
use countersign::tool::full_name;
use data_encoding::{BASE64, BASE64URL_NOPAD};
use local::gateway::GATEWAY_ID;
use local::lambda::{Invoked, MAX_CLIENT_CONTEXT_BYTES, Refusal};
use serde_json::{Value, json};
use tests::app::code;
use tests::direct::client_context;
use tests::{App, run};

const CALLER_TYP: &str = "countersign-caller+jwt";
const CONSENT_TYP: &str = "countersign-consent+jwt";
const TOOL_NAME: &str = "bedrockAgentCoreToolName";
const REFUSED: &str = "unauthenticated";

/// Everything a context can be made of, for one tool.
struct Parts<'a> {
    app: &'a App,
    tool: &'a str,
    by: Caller,
}

type Make = fn(&Parts<'_>) -> Option<Bytes>;

#[rustfmt::skip]
const CONTEXTS: [(&str, Make, &str); 50] = [
    ("as the gateway sends it", |parts| Some(parts.good()), "ok"),
    ("in base64", |parts| Some(BASE64.encode(&parts.good()).into()), "ok"),
    ("with the header in capitals", |parts| parts.headers(json!({ "X-COUNTERSIGN-CALLER": parts.token() })), "ok"),
    ("with two spellings of one value", |parts| { let token = parts.token(); parts.headers(json!({ HEADER: token, "X-Countersign-Caller": token })) }, "ok"),
    ("with members that nobody knows", |parts| parts.with(|context| { context["client"] = json!({}); context["env"] = Value::Null; context["w3c"] = json!({ "traceparent": "00" }); }), "ok"),
    ("with a number for the message id", |parts| parts.with(|context| context["custom"]["bedrockAgentCoreMcpMessageId"] = json!(7)), "ok"),
    ("with letters outside ASCII beside", |parts| parts.with(|context| context["custom"]["x"] = json!("é")), "ok"),
    ("as large as Lambda takes", |parts| Some(parts.of_size(MAX_CLIENT_CONTEXT_BYTES)), "ok"),
    ("absent", |_| None, REFUSED),
    ("empty", |_| text(""), REFUSED),
    ("an empty object", |_| text("{}"), REFUSED),
    ("null", |_| text("null"), REFUSED),
    ("an array", |_| text("[]"), REFUSED),
    ("a number", |_| text("7"), REFUSED),
    ("a text", |_| text("\"custom\""), REFUSED),
    ("broken off", |parts| Some(parts.good().slice(..200)), REFUSED),
    ("no text at all", |_| Some(Bytes::from_static(b"\xff\xfe{\x80}")), REFUSED),
    ("base64 of nothing", |_| text("AAAA"), REFUSED),
    ("custom: null", |_| text(r#"{"custom":null}"#), REFUSED),
    ("custom: []", |_| text(r#"{"custom":[]}"#), REFUSED),
    ("custom: {}", |_| text(r#"{"custom":{}}"#), REFUSED),
    ("client: null", |_| text(r#"{"client":null,"custom":{"a":"b"}}"#), REFUSED),
    ("custom of texts alone", |parts| parts.with(|context| { context["custom"].as_object_mut().unwrap().remove("bedrockAgentCorePropagatedHeaders"); }), REFUSED),
    ("the headers as a text", |parts| parts.headers(json!(json!({ HEADER: parts.token() }).to_string())), REFUSED),
    ("the headers as null", |parts| parts.headers(Value::Null), REFUSED),
    ("no headers", |parts| parts.headers(json!({})), REFUSED),
    ("the header `-`", |parts| parts.bearing("-"), REFUSED),
    ("an empty header", |parts| parts.bearing(""), REFUSED),
    ("a header that is a list", |parts| parts.headers(json!({ HEADER: [parts.token()] })), REFUSED),
    ("two spellings of two values", |parts| parts.headers(json!({ HEADER: parts.token(), "X-Countersign-Caller": "-" })), REFUSED),
    ("two spellings of two values, the good one first", |parts| parts.headers(json!({ HEADER: "-", "X-Countersign-Caller": parts.token() })), REFUSED),
    ("the header twice", |parts| Some(before(&parts.good(), HEADER, "-")), REFUSED),
    ("the header twice, the good one first", |parts| Some(before(&parts.bearing("-").unwrap(), HEADER, &parts.token_text())), REFUSED),
    ("the tool's name twice", |parts| Some(before(&parts.good(), TOOL_NAME, "Else___else")), REFUSED),
    ("the tool's name twice, the good one first", |parts| Some(before(&parts.of_another_tool(), TOOL_NAME, &full_name(parts.tool))), REFUSED),
    ("no tool's name", |parts| parts.with(|context| context["custom"][TOOL_NAME] = Value::Null), REFUSED),
    ("another tool's name", |parts| Some(parts.of_another_tool()), REFUSED),
    ("the tool's name without its target", |parts| parts.with(|context| context["custom"][TOOL_NAME] = json!(parts.tool)), REFUSED),
    ("another gateway's id", |parts| parts.with(|context| context["custom"]["bedrockAgentCoreGatewayId"] = json!("other")), REFUSED),
    ("an assertion for another tool", |parts| parts.minted(GATEWAY_ID, &full_name("some_tool"), Timestamp::now()), REFUSED),
    ("an assertion for another gateway", |parts| parts.minted("other", &full_name(parts.tool), Timestamp::now()), REFUSED),
    ("an assertion that has expired", |parts| parts.minted(GATEWAY_ID, &full_name(parts.tool), Timestamp::now() - Duration::from_secs(66)), REFUSED),
    ("an assertion that is not yet valid", |parts| parts.minted(GATEWAY_ID, &full_name(parts.tool), Timestamp::now() + Duration::from_secs(30)), REFUSED),
    ("an assertion that lives for an hour", |parts| parts.bearing(&parts.signed(CALLER_TYP, &parts.claims(3_600))), REFUSED),
    ("an assertion with another signature", |parts| parts.bearing(&forged(&parts.token_text())), REFUSED),
    ("an assertion with the algorithm none", |parts| parts.bearing(&algorithm_none(&parts.token_text())), REFUSED),
    ("another's key under the known name", |parts| parts.bearing(&stranger("caller-1").sign(CALLER_TYP, &parts.claims(60)).unwrap()), REFUSED),
    ("a key that nobody knows", |parts| parts.bearing(&stranger("caller-2").sign(CALLER_TYP, &parts.claims(60)).unwrap()), REFUSED),
    ("a consent's type from the callers' key", |parts| parts.bearing(&parts.signed(CONSENT_TYP, &parts.claims(60))), REFUSED),
    ("a caller from the consents' key", |parts| parts.bearing(&parts.app.gateway.keys().consent().unwrap().sign(CONSENT_TYP, &parts.claims(60)).unwrap()), REFUSED),
];

/// A gateway of its own, so that its processes are known.
#[test]
fn every_client_context_is_answered_and_the_next_call_on_the_same_process_works() {
    run(async {
        let app = App::start().await;
        let by = app.caller("acme-agent");
        let tools = ["cancel_refund", "get_order_summary", "prepare_refund", "submit_refund", "get_refund_status"];
        for tool in tools {
            let parts = Parts { app: &app, tool, by: by.clone() };
            parts.next_call_works().await;
            let processes = app.gateway.lambda().processes(tool);
            assert_eq!(processes.len(), 1);
            for (name, make, expected) in CONTEXTS {
                let answer = parts.call(make(&parts)).await;
                let let_in = if code(&answer) == REFUSED { REFUSED } else { "ok" };
                assert_eq!(let_in, expected, "{tool}, {name}: {answer}");
                parts.next_call_works().await;
                assert_eq!(app.gateway.lambda().processes(tool), processes, "{tool}, {name}");
            }
            assert_eq!(app.gateway.lambda().cold_starts(tool), 1);
        }
        app.gateway.shutdown().await;
    });
}

#[test]
fn an_assertion_of_another_tenant_acts_in_that_tenant_alone() {
    run(async {
        let app = tests::shared().await;
        let (ours, theirs) = (app.caller("acme-agent"), app.caller("globex-agent"));
        for (by, currency) in [(ours, "EUR"), (theirs, "USD")] {
            let parts = Parts { app, tool: "get_order_summary", by };
            assert_eq!(parts.call(Some(parts.good())).await["currency"], currency);
        }
    });
}

#[test]
fn a_context_larger_than_lambda_takes_never_arrives_and_the_next_one_does() {
    run(async {
        let app = tests::shared().await;
        let parts = Parts { app, tool: "get_order_summary", by: app.caller("acme-agent") };
        let context = parts.of_size(3_072);
        let invoked = app.gateway.lambda().invoke(parts.tool, parts.arguments(), Some(context)).await;
        assert_eq!(invoked, Invoked::Refused(Refusal::ClientContextTooLarge(3_072)));
        parts.next_call_works().await;
    });
}

impl Parts<'_> {
    async fn call(&self, context: Option<Bytes>) -> Value {
        serde_json::from_slice(&self.app.raw(self.tool, self.arguments(), context).await).unwrap()
    }

    async fn next_call_works(&self) {
        let answer = self.call(Some(self.good())).await;
        let expected =
            if self.tool.starts_with("get_order") || self.tool.starts_with("prepare") { "ok" } else { "not_found" };
        assert_eq!(code(&answer), expected, "{}: {answer}", self.tool);
    }

    fn arguments(&self) -> Bytes {
        let arguments = match self.tool {
            "get_order_summary" => json!({ "order_id": "ord_8F3K2" }),
            "prepare_refund" => {
                json!({ "order_id": "ord_8F3K2", "amount_minor": 1, "currency": "EUR", "reason_code": "late" })
            }
            "submit_refund" => {
                json!({ "proposal_id": format!("prop_{}", "a".repeat(26)), "idempotency_key": "a".repeat(16) })
            }
            _ => json!({ "operation_id": format!("op_{}", "a".repeat(26)) }),
        };
        arguments.to_string().into()
    }

    fn good(&self) -> Bytes {
        client_context(self.tool, &self.token_text())
    }

    fn of_another_tool(&self) -> Bytes {
        self.with(|context| context["custom"][TOOL_NAME] = json!("Else___else")).unwrap()
    }

    /// The good context with one difference.
    fn with(&self, change: impl FnOnce(&mut Value)) -> Option<Bytes> {
        let mut context = serde_json::from_slice(&self.good()).unwrap();
        change(&mut context);
        Some(context.to_string().into())
    }

    fn headers(&self, headers: Value) -> Option<Bytes> {
        self.with(|context| context["custom"]["bedrockAgentCorePropagatedHeaders"] = headers)
    }

    fn bearing(&self, assertion: &str) -> Option<Bytes> {
        Some(client_context(self.tool, assertion))
    }

    fn of_size(&self, bytes: usize) -> Bytes {
        let pad = |length: usize| self.with(|context| context["custom"]["pad"] = json!("p".repeat(length))).unwrap();
        let context = pad(bytes - pad(0).len());
        assert_eq!(context.len(), bytes);
        context
    }

    fn token_text(&self) -> String {
        self.app.assertion(&self.by, self.tool)
    }

    fn token(&self) -> Value {
        json!(self.token_text())
    }

    fn signer(&self) -> Signer {
        Signer::parse(self.app.gateway.keys().caller()).unwrap()
    }

    fn signed(&self, typ: &str, claims: &Value) -> String {
        self.signer().sign(typ, claims).unwrap()
    }

    fn minted(&self, gateway: &str, tool: &str, now: Timestamp) -> Option<Bytes> {
        self.bearing(&caller::mint(&self.signer(), &self.by, gateway, tool, now).unwrap())
    }

    /// What an assertion says, with this lifetime in seconds.
    fn claims(&self, lifetime: i64) -> Value {
        let mut claims = serde_json::to_value(&self.by).unwrap();
        let now = Timestamp::now().seconds();
        claims["gateway"] = json!(GATEWAY_ID);
        claims["tool"] = json!(full_name(self.tool));
        claims["iat"] = json!(now);
        claims["exp"] = json!(now + lifetime);
        claims
    }
}

fn text(context: &'static str) -> Option<Bytes> {
    Some(Bytes::from_static(context.as_bytes()))
}

fn stranger(kid: &str) -> Signer {
    Signer::parse(&Signer::generate(kid).unwrap()).unwrap()
}

/// The context with one member more, before the one of the same name.
fn before(context: &Bytes, name: &str, value: &str) -> Bytes {
    let text = std::str::from_utf8(context).unwrap();
    let (head, tail) = text.split_once(&format!("\"{name}\":")).unwrap();
    format!("{head}\"{name}\":\"{value}\",\"{name}\":{tail}").into()
}

/// The token with one bit of its signature turned.
fn forged(token: &str) -> String {
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let mut signature = BASE64URL_NOPAD.decode(signature.as_bytes()).unwrap();
    signature[0] ^= 1;
    format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature))
}

fn algorithm_none(token: &str) -> String {
    let header = json!({ "alg": "none", "typ": CALLER_TYP, "kid": "caller-1" });
    let claims = token.split('.').nth(1).unwrap();
    format!("{}.{claims}.", BASE64URL_NOPAD.encode(header.to_string().as_bytes()))
}
