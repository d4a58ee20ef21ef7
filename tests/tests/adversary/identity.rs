//! Tokens that are nearly right, and names that nearly collide, over the real interceptor and endpoint.

use countersign::bounded::Currency;
use countersign::caller::HEADER;
use countersign::clock::Timestamp;
use countersign::consent::Verdict;
use countersign::failure::Code;
use countersign::keys::Signer;
use countersign::tool::full_name;
use local::keys::AUDIENCE;
use local::lambda::Invoked;
use serde_json::{Value, json};
use tests::app::{code, key, prepare, submit};
use tests::direct::client_context;
use tests::people::{authority, authority_key};
use tests::{App, quiet, run};

fn signer(app: &App) -> Signer {
    Signer::parse(&app.gateway.keys().issuer(local::gateway::ISSUER).unwrap().private_jwk().to_string()).unwrap()
}
fn claims() -> Value {
    let now = Timestamp::now().seconds();
    json!({ "iss": local::gateway::ISSUER, "aud": AUDIENCE, "sub": "acme-clerk", "iat": now, "exp": now + 600, "tenant": "acme",
        "principal": "acme-clerk", "actor": "acme-agent", "client_id": "acme-agent-app", "roles": ["requester"] })
}
async fn header(app: &App, claims: &Value, tool: &str) -> String {
    let token = signer(app).sign("JWT", claims).unwrap();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": full_name(tool), "arguments": {} } });
    let request = json!({ "path": "/mcp", "httpMethod": "POST", "headers": {"authorization": format!("Bearer {token}")}, "body": body });
    let event = json!({ "interceptorInputVersion": "1.0", "mcp": { "rawGatewayRequest": {"body": ""}, "gatewayRequest": request } });
    match app.gateway.lambda().invoke("interceptor", event.to_string().into(), None).await {
        Invoked::Answered(a) => {
            serde_json::from_slice::<Value>(&a).unwrap()["mcp"]["transformedGatewayRequest"]["headers"][HEADER]
                .as_str()
                .unwrap()
                .to_owned()
        }
        other => panic!("{other:?}"),
    }
}
fn payload(h: &str) -> Value {
    serde_json::from_slice(
        &data_encoding::BASE64URL_NOPAD.decode(h.split('.').nth(1).unwrap_or("").as_bytes()).unwrap(),
    )
    .unwrap_or(Value::Null)
}

#[test]
fn an_unreadable_agent_is_not_no_agent() {
    run(async {
        let app = quiet().await;
        let mut bad = Vec::new();
        for name in ["actor", "client_id"] {
            for odd in [json!({"sub": "acme-agent"}), json!(["acme-agent"]), json!(7), json!(true)] {
                let mut c = claims();
                c[name] = odd.clone();
                let h = header(app, &c, "prepare_refund").await;
                if h != "-" {
                    bad.push(format!("{name}={odd}: minted {}", payload(&h)));
                }
            }
        }
        assert!(bad.is_empty(), "{}", bad.join("\n"));
    });
}

#[test]
fn an_agent_named_by_rfc8693_act_approves_its_own() {
    run(async {
        // the token names the agent as RFC 8693 does; the agent's own principal is an approver
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let agent = app.approver("acme", 50_000).await;
        let mut c = claims();
        c["actor"] = json!({"sub": agent.0.principal.as_str()});
        let h = header(app, &c, "prepare_refund").await;
        let r = app
            .raw("prepare_refund", prepare(&order, 100).to_string(), Some(client_context("prepare_refund", &h)))
            .await;
        let r: Value = serde_json::from_slice(&r).unwrap();
        if let Some(p) = r["proposal_id"].as_str() {
            let d = app.decide_as(&agent, p, countersign::consent::Verdict::Approval).await;
            assert!(d.is_err(), "the agent approved what it had prepared");
        }
    });
}

#[test]
fn many_roles_do_not_lock_a_person_out() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        for n in [10, 60, 150] {
            let mut roles: Vec<String> = (0..n).map(|n| format!("corporate-group-{n:04}")).collect();
            roles.push("requester".into());
            let mut c = claims();
            c["roles"] = json!(roles);
            let token = signer(app).sign("JWT", &c).unwrap();
            let client = local::client::Client::connect(&app.gateway.mcp_url(), &token).await.unwrap();
            let r = client.call("prepare_refund", prepare(&order, 100)).await;
            assert!(r.is_ok_and(|a| code(&a.value) == "ok" && a.value["proposal_id"].is_string()), "{n} roles");
            client.close().await;
        }
    });
}

#[test]
fn odd_claims_mint_nothing() {
    run(async {
        let app = quiet().await;
        let mut bad = Vec::new();
        for (name, odd) in [
            ("tenant", json!(["acme", "globex"])),
            ("tenant", json!({"acme": 1})),
            ("tenant", json!("acme#globex")),
            ("tenant", json!("")),
            ("tenant", json!("acme ")),
            ("tenant", json!("ａcme")),
            ("principal", json!(["a"])),
            ("principal", json!(7)),
            ("principal", json!("ünï")),
            ("principal", json!("a#b")),
            ("principal", json!("x".repeat(129))),
            ("principal", json!("a\nb")),
            ("exp", json!("9999999999")),
            ("exp", json!(-1)),
            ("exp", json!(null)),
            ("iss", json!(["x"])),
            ("aud", json!(["other"])),
            ("nbf", json!(9999999999_i64)),
        ] {
            let mut c = claims();
            c[name] = odd.clone();
            let h = header(app, &c, "prepare_refund").await;
            if h != "-" {
                bad.push(format!("{name}={odd}: {}", payload(&h)));
            }
        }
        for (roles, expect) in [
            (json!("requester operator"), 2),
            (json!([["requester"]]), 0),
            (json!({"requester": true}), 0),
            (json!(["REQUESTER"]), 0),
            (json!(["requester,operator"]), 0),
        ] {
            let mut c = claims();
            c["roles"] = roles.clone();
            let h = header(app, &c, "prepare_refund").await;
            if payload(&h)["roles"].as_array().map(Vec::len) != Some(expect) {
                bad.push(format!("roles {roles}: {}", payload(&h)));
            }
        }
        assert!(bad.is_empty(), "{}", bad.join("\n"));
    });
}

#[test]
fn keys_do_not_collide() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 50_000).await;
        let k = key();
        let mut ids = std::collections::BTreeSet::new();
        let names = ["a|b", "a", "a|", "|b", "a:b", "acme", &"p".repeat(128), "%23", "a/b", "*"];
        for name in names {
            let mut by = app.requester("acme");
            by = serde_json::from_value({
                let mut v = serde_json::to_value(&by).unwrap();
                v["principal"] = json!(name);
                v
            })
            .unwrap();
            let d = app.direct_as(by);
            let r = d.call("prepare_refund", prepare(&order, 10)).await;
            let p = r["proposal_id"].as_str().unwrap_or_else(|| panic!("{name} {r}")).to_owned();
            app.decide("acme-approver", &p, countersign::consent::Verdict::Approval).await.unwrap();
            let r = d.call("submit_refund", submit(&p, &k)).await;
            assert!(ids.insert(r["operation_id"].as_str().unwrap().to_owned()) && r["replayed"] == false, "{name}");
        }
    });
}

#[test]
fn a_name_in_other_letter_case_is_no_second_person() {
    run(async {
        let app = quiet().await;
        let order = app.order("acme", Currency::Eur, 5_000).await;
        let p = app.prepared(&order, 100).await;
        // The requester, their agent, the client, and an owner of the client.
        for name in ["Acme-Clerk", "ACME-AGENT", "Acme-Agent-App", "acme-Owner"] {
            let person = app.person("acme", name);
            app.put(&authority_key("acme", name), authority(50_000)).await;
            let refused = app.decide_as(&person, &p, Verdict::Approval).await.unwrap_err();
            assert_eq!(refused.code(), Code::FORBIDDEN, "{name}: {refused}");
        }
    });
}
