//! The interceptor's REQUEST half, called as the gateway calls it: who gets an assertion, and who gets none.

use std::time::Duration;

use countersign::caller::{self, Caller, HEADER};
use countersign::clock::{Timestamp, wall_clock};
use countersign::keys::{KeyError, KeySet, Signer};
use countersign::tool::full_name;
use data_encoding::BASE64URL_NOPAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use local::gateway::{GATEWAY_ID, ISSUER};
use local::issuer::Issuer;
use local::keys::AUDIENCE;
use local::lambda::{Invoked, Lambda};
use serde_json::{Value, json};
use tests::{App, run, shared};

pub(crate) const TOOL: &str = "submit_refund";

/// What the interceptor makes of an event.
pub(crate) async fn intercepted(app: &App, event: &Value) -> Value {
    by(app.gateway.lambda(), event).await
}

/// What one among these functions makes of it.
pub(crate) async fn by(lambda: &Lambda, event: &Value) -> Value {
    match lambda.invoke("interceptor", event.to_string().into(), None).await {
        Invoked::Answered(answer) => {
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            assert_eq!(answer["interceptorOutputVersion"], "1.0");
            answer["mcp"].clone()
        }
        other => panic!("the interceptor did not answer {event}: {other:?}"),
    }
}

pub(crate) fn message(method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "name": full_name(TOOL), "arguments": { "a": 1 } } })
}

pub(crate) fn event(headers: Value, body: Value) -> Value {
    let request = json!({ "path": "/mcp", "httpMethod": "POST", "headers": headers, "body": body });
    let raw = json!({ "body": request["body"].to_string() });
    json!({ "interceptorInputVersion": "1.0", "mcp": { "rawGatewayRequest": raw, "gatewayRequest": request } })
}

/// The caller header that a call with these headers gets. It is the only header that is ever set.
pub(crate) async fn header(app: &App, headers: Value) -> String {
    let mcp = intercepted(app, &event(headers, message("tools/call"))).await;
    let request = &mcp["transformedGatewayRequest"];
    assert_eq!(request["body"], message("tools/call"), "the message is passed on as it came");
    assert_eq!(mcp.as_object().unwrap().len(), 1, "{mcp}");
    let headers = request["headers"].as_object().unwrap();
    assert_eq!(headers.keys().collect::<Vec<_>>(), [HEADER]);
    headers[HEADER].as_str().unwrap().to_owned()
}

pub(crate) fn verified(app: &App, assertion: &str, gateway: &str, tool: &str) -> Result<Caller, KeyError> {
    let keys = KeySet::parse(&app.gateway.keys().caller_set().unwrap()).unwrap();
    caller::verify(&keys, assertion, gateway, tool, Timestamp::now())
}

pub(crate) fn bearer(token: &str) -> Value {
    json!({ "authorization": format!("Bearer {token}") })
}

pub(crate) fn token(app: &App) -> String {
    app.gateway.token(app.persona("acme-agent")).unwrap()
}

/// The issuer's own key, to sign what the issuer never would.
fn issuer_key(app: &App) -> Signer {
    let issuer = app.gateway.keys().issuer(ISSUER).unwrap();
    Signer::parse(&issuer.private_jwk().to_string()).unwrap()
}

/// What a good token says.
pub(crate) fn claims() -> Value {
    let now = Timestamp::now().seconds();
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": "acme-clerk", "iat": now, "exp": now + 600, "tenant": "acme",
        "principal": "acme-clerk", "actor": "acme-agent", "client_id": "acme-agent-app", "roles": ["requester"],
    })
}

#[test]
fn a_call_with_a_good_token_gets_an_assertion_for_exactly_its_tool_and_gateway() {
    run(async {
        let app = shared().await;
        for name in ["authorization", "Authorization", "AUTHORIZATION"] {
            let assertion = header(app, json!({ name: format!("bEaReR  {} ", token(app)), "accept": "*/*" })).await;
            let caller = verified(app, &assertion, GATEWAY_ID, &full_name(TOOL)).unwrap();
            assert_eq!(caller, app.caller("acme-agent"));
            assert_eq!(verified(app, &assertion, GATEWAY_ID, &full_name("prepare_refund")), Err(KeyError::Invalid));
            assert_eq!(verified(app, &assertion, "another-gateway", &full_name(TOOL)), Err(KeyError::Invalid));
        }
    });
}

#[test]
fn one_event_twice_gets_two_answers_that_both_count() {
    run(async {
        let app = shared().await;
        let headers = bearer(&token(app));
        for _ in 0..2 {
            let assertion = header(app, headers.clone()).await;
            assert_eq!(verified(app, &assertion, GATEWAY_ID, &full_name(TOOL)), Ok(app.caller("acme-agent")));
        }
    });
}

#[test]
fn a_call_without_exactly_one_bearer_token_gets_no_assertion() {
    run(async {
        let app = shared().await;
        let token = token(app);
        let own = app.assertion(&app.caller("globex-agent"), TOOL);
        let bearer = format!("Bearer {token}");
        let rows = [
            json!({}),
            Value::Null,
            json!([["authorization", bearer]]),
            json!({ "authorization": "" }),
            json!({ "authorization": "Bearer" }),
            json!({ "authorization": "Bearer " }),
            json!({ "authorization": token }),
            json!({ "authorization": format!("Basic {token}") }),
            json!({ "authorization": [bearer] }),
            json!({ "authorization": bearer, "Authorization": bearer }),
            json!({ "authorization": format!("{bearer}, {bearer}") }),
            json!({ "proxy-authorization": bearer }),
            // A client's own assertion, however it is spelled, is nobody's word.
            json!({ HEADER: own }),
            json!({ "X-Countersign-Caller": own, "authorization": "Bearer x" }),
            json!({ "authorization": format!("Bearer {own}") }),
        ];
        for headers in rows {
            assert_eq!(header(app, headers.clone()).await, "-", "{headers}");
        }
        let minted = header(app, json!({ HEADER: own, "X-COUNTERSIGN-CALLER": "-", "authorization": bearer })).await;
        assert_eq!(verified(app, &minted, GATEWAY_ID, &full_name(TOOL)), Ok(app.caller("acme-agent")));
    });
}

#[test]
fn a_token_that_the_issuer_did_not_give_for_this_audience_and_this_time_gets_no_assertion() {
    run(async {
        let app = shared().await;
        let (url, good) = (ISSUER, token(app));
        let keys = app.gateway.keys();
        let jwk = keys.issuer(url).unwrap().private_jwk();
        let persona = app.persona("acme-agent");
        let issued = |url: &str, audience: &str, jwk: &Value, ago: u64| {
            let issuer = Issuer::from_jwk(url, audience, jwk).unwrap();
            issuer.token(persona, wall_clock() - Duration::from_secs(ago), Duration::from_secs(600)).unwrap()
        };
        assert_ne!(header(app, bearer(&issued(url, AUDIENCE, &jwk, 0))).await, "-", "otherwise none of this is a test");
        let stranger = Issuer::generate(url, AUDIENCE).unwrap();
        let mut same_name = stranger.private_jwk();
        same_name["kid"] = jwk["kid"].clone();
        let (signed, signature) = good.rsplit_once('.').unwrap();
        let rows = [
            ("expired", issued(url, AUDIENCE, &jwk, 606)),
            ("another issuer", issued("https://issuer.example", AUDIENCE, &jwk, 0)),
            ("another audience", issued(url, "countersign-approvals", &jwk, 0)),
            ("a stranger's key", issued(url, AUDIENCE, &stranger.private_jwk(), 0)),
            ("a stranger's key under the issuer's name", issued(url, AUDIENCE, &same_name, 0)),
            ("garbled", good.replacen("eyJ", "eyK", 1)),
            ("no signature", format!("{signed}.")),
            ("half a signature", format!("{signed}.{}", &signature[..signature.len() / 2])),
            ("the algorithm none", with_header(&good, &json!({ "alg": "none", "kid": jwk["kid"] }), "")),
            ("no key named", with_header(&good, &json!({ "alg": "EdDSA" }), signature)),
            ("the public key as a secret", shared_secret(jwk["x"].as_str().unwrap().as_bytes(), &jwk["kid"])),
            (
                "the public key's bytes as a secret",
                shared_secret(&BASE64URL_NOPAD.decode(jwk["x"].as_str().unwrap().as_bytes()).unwrap(), &jwk["kid"]),
            ),
            ("two parts", signed.to_owned()),
            ("no token", "x".repeat(20)),
            ("10 KB", "x".repeat(10_240)),
        ];
        for (name, token) in rows {
            assert_eq!(header(app, bearer(&token)).await, "-", "{name}");
        }
    });
}

#[test]
fn a_token_has_to_say_of_which_tenant_and_which_human_and_until_when() {
    run(async {
        let app = shared().await;
        let key = issuer_key(app);
        let signed = |claims: &Value| key.sign("JWT", claims).unwrap();
        let with = |name: &str, value: Value| {
            let mut claims = claims();
            claims[name] = value;
            signed(&claims)
        };
        let without = |name: &str| {
            let mut claims = claims();
            claims.as_object_mut().unwrap().remove(name).unwrap();
            signed(&claims)
        };
        for token in [
            without("tenant"),
            without("principal"),
            without("exp"),
            without("iss"),
            without("aud"),
            with("tenant", json!("")),
            with("tenant", json!(7)),
            with("tenant", json!(["acme"])),
            with("tenant", json!("acme#globex")),
            with("principal", Value::Null),
            with("principal", json!("the clerk")),
            with("actor", json!("a#b")),
            with("client_id", json!("é")),
            with("nbf", json!(Timestamp::now().seconds() + 600)),
            with("exp", json!("tomorrow")),
            with("aud", json!([])),
        ] {
            assert_eq!(header(app, bearer(&token)).await, "-", "{token}");
        }
        // What may be left out is left out, and what is no role is none.
        for (token, actor, roles) in [
            (without("actor"), None, vec!["requester"]),
            (without("roles"), Some("acme-agent"), vec![]),
            (with("roles", json!("requester operator")), Some("acme-agent"), vec!["requester", "operator"]),
            (with("roles", json!(["requester", 7, "a b"])), Some("acme-agent"), vec!["requester"]),
            (with("aud", json!(["other", AUDIENCE])), Some("acme-agent"), vec!["requester"]),
        ] {
            let caller = verified(app, &header(app, bearer(&token)).await, GATEWAY_ID, &full_name(TOOL)).unwrap();
            assert_eq!(caller.actor.as_ref().map(|actor| actor.as_str()), actor);
            assert_eq!(caller.roles.iter().map(|role| role.as_str()).collect::<Vec<_>>(), roles);
        }
    });
}

#[test]
fn whatever_is_no_call_of_one_tool_passes_without_an_assertion_and_batches_do_not_pass() {
    run(async {
        let app = shared().await;
        let headers = bearer(&token(app));
        let mut nameless = message("tools/call");
        nameless["params"] = json!({});
        let mut endless = message("tools/call");
        endless["params"]["name"] = json!("n".repeat(257));
        let passing = ["initialize", "tools/list", "ping", "Tools/Call", ""].map(message);
        for body in passing.into_iter().chain([nameless, endless, json!({}), Value::Null, json!("tools/call")]) {
            let mcp = intercepted(app, &event(headers.clone(), body.clone())).await;
            assert_eq!(mcp["transformedGatewayRequest"]["headers"], json!({ HEADER: "-" }), "{body}");
            assert_eq!(mcp["transformedGatewayRequest"]["body"], body);
        }
        for batch in [json!([]), json!([message("tools/call")]), json!([message("tools/list"), message("tools/call")])]
        {
            let mcp = intercepted(app, &event(headers.clone(), batch.clone())).await;
            assert_eq!(mcp.get("transformedGatewayRequest"), None, "{batch}");
            assert_eq!(mcp["transformedGatewayResponse"]["statusCode"], 400);
            assert_eq!(mcp["transformedGatewayResponse"]["body"]["error"]["code"], -32600);
        }
        for event in
            [json!({}), Value::Null, json!([]), json!({ "mcp": null }), json!({ "mcp": { "gatewayRequest": 7 } })]
        {
            let mcp = intercepted(app, &event).await;
            assert_eq!(mcp["transformedGatewayRequest"]["headers"], json!({ HEADER: "-" }), "{event}");
        }
    });
}

/// The token under another header.
fn with_header(token: &str, header: &Value, signature: &str) -> String {
    let header = BASE64URL_NOPAD.encode(header.to_string().as_bytes());
    format!("{header}.{}.{signature}", token.split('.').nth(1).unwrap())
}

/// A token signed with a secret that everybody knows.
fn shared_secret(secret: &[u8], kid: &Value) -> String {
    let mut header = Header::new(Algorithm::HS256);
    header.kid = kid.as_str().map(str::to_owned);
    jsonwebtoken::encode(&header, &claims(), &EncodingKey::from_secret(secret).unwrap()).unwrap()
}
