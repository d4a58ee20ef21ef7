//! The function that takes an operator's word: a person's own token, the whole body, and nothing else.

use countersign::operation::State;
use local::issuer::DEFAULT_TTL;
use local::keys::OPERATIONS_AUDIENCE;
use serde_json::{Value, json};
use tests::{App, run};

use crate::scene::{DAY, REFUNDED, RESERVED, Scene, nothing};

pub(crate) const FUNCTION: &str = "resolve_refund";

pub(crate) fn token(app: &App, audience: &str, persona: &str) -> String {
    let issuer = app.gateway.keys().issuer(local::gateway::ISSUER).unwrap();
    issuer.token_for(audience, app.persona(persona), countersign::clock::wall_clock(), DEFAULT_TTL).unwrap()
}

pub(crate) async fn post(app: &App, token: Option<&str>, body: impl Into<reqwest::Body>) -> (u16, Value) {
    let request = reqwest::Client::new().post(app.gateway.http_url(FUNCTION).unwrap()).body(body);
    let request = match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

async fn stuck() -> Scene {
    let scene = Scene::unknown().await;
    assert_eq!(scene.look(DAY, nothing()).await.state, State::NeedsOperator);
    scene
}

fn body(scene: &Scene) -> Value {
    json!({ "operation_id": scene.refund.operation, "outcome": "succeeded", "evidence": "re_1 on the dashboard" })
}

#[test]
fn an_operator_s_word_ends_it_once_and_is_kept() {
    run(async {
        let scene = stuck().await;
        let token = token(scene.app, OPERATIONS_AUDIENCE, "acme-operator");
        let (status, answer) = post(scene.app, Some(&token), body(&scene).to_string()).await;
        assert_eq!((status, &answer["state"]), (200, &json!("succeeded")), "{answer}");
        assert!(answer["resolution"].as_str().unwrap().ends_with("re_1 on the dashboard"), "{answer}");
        assert_eq!(scene.balances().await, REFUNDED);
        let (status, answer) = post(scene.app, Some(&token), body(&scene).to_string()).await;
        assert_eq!((status, &answer["error"]["code"]), (409, &json!("not_waiting")), "{answer}");
    });
}

#[test]
fn no_agent_and_nobody_without_the_role_and_no_token_for_something_else_is_listened_to() {
    run(async {
        let scene = stuck().await;
        let app = scene.app;
        let rows = [
            (Some(token(app, local::keys::AUDIENCE, "acme-operator")), 401, "unauthenticated"),
            (Some(token(app, local::gateway::PAGE_CLIENT, "acme-operator")), 401, "unauthenticated"),
            (Some("e30.e30.".to_owned()), 401, "unauthenticated"),
            (None, 401, "unauthenticated"),
            (Some(token(app, OPERATIONS_AUDIENCE, "acme-agent")), 403, "forbidden"),
            (Some(token(app, OPERATIONS_AUDIENCE, "acme-approver")), 403, "forbidden"),
            (Some(token(app, OPERATIONS_AUDIENCE, "globex-approver")), 403, "forbidden"),
        ];
        for (token, expected, code) in rows {
            let (status, answer) = post(app, token.as_deref(), body(&scene).to_string()).await;
            assert_eq!((status, &answer["error"]["code"]), (expected, &json!(code)), "{answer}");
        }
        assert_eq!((scene.state().await, scene.balances().await), (State::NeedsOperator, RESERVED));
    });
}

#[test]
fn a_body_that_is_not_the_whole_of_it_is_refused() {
    run(async {
        let scene = stuck().await;
        let token = token(scene.app, OPERATIONS_AUDIENCE, "acme-operator");
        let good = body(&scene);
        let changed = |name: &str, value: Value| {
            let mut body = good.clone();
            body[name] = value;
            body.to_string().into_bytes()
        };
        let members = good.to_string();
        let twice = format!("{},\"outcome\":\"failed\"}}", members.strip_suffix('}').unwrap());
        let array = json!([good["operation_id"], good["outcome"], good["evidence"]]).to_string();
        let bad = [
            Vec::new(),
            b"{}".to_vec(),
            vec![0xff, 0xfe],
            twice.into_bytes(),
            array.into_bytes(),
            changed("outcome", json!("queued")),
            changed("outcome", json!(null)),
            changed("operation_id", json!("op_1")),
            changed("evidence", json!("")),
            changed("evidence", json!("x".repeat(501))),
            changed("evidence", json!("a\nb")),
            changed("amount_minor", json!(1)),
            changed("tenant", json!("globex")),
            changed("version", json!("1")),
            changed("evidence", json!("x".repeat(9_000))),
        ];
        for body in bad {
            let shown = String::from_utf8_lossy(&body).chars().take(80).collect::<String>();
            let (status, answer) = post(scene.app, Some(&token), body).await;
            assert_eq!((status, &answer["error"]["code"]), (400, &json!("invalid_input")), "{shown}: {answer}");
        }
        let absent = changed("operation_id", json!(format!("op_{}", "a".repeat(26))));
        let (status, answer) = post(scene.app, Some(&token), absent).await;
        assert_eq!((status, &answer["error"]["code"]), (404, &json!("not_found")), "{answer}");
        assert_eq!((scene.state().await, scene.balances().await), (State::NeedsOperator, RESERVED));
    });
}
