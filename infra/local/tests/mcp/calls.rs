//! What becomes of a call behind the door: arguments, the client context, failures and answers that break a contract.

use std::sync::Arc;

use local::mcp::{CatalogError, ListedTool, Settings, any_token, router};
use serde_json::{Value, json};

use crate::{
    double::{Double, Interceptor, TOOL, arguments, contract, endpoint, question},
    gate::{message, tools_call},
};

/// The `result` of one call.
async fn call(functions: &Arc<Double>, arguments: &Value) -> Value {
    let url = endpoint(functions).await;
    let response = tools_call(&url, arguments).bearer_auth("agent").send().await.unwrap();
    message(response).await["result"].take()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn arguments_beyond_the_schema_are_refused_by_field_and_invoke_nothing() {
    let id = "prop_abcdefghijklmnopqrstuvwxyz";
    let cases = [
        (json!({ "proposal_id": id, "amount_minor": 0 }), "amount_minor"),
        (json!({ "proposal_id": id, "amount_minor": 1_000_001 }), "amount_minor"),
        (json!({ "proposal_id": id, "amount_minor": null }), "amount_minor"),
        (json!({ "proposal_id": "prop_secret-secret" }), "proposal_id"),
        (json!({ "amount_minor": 1 }), "proposal_id"),
        (json!({ "proposal_id": id, "tenant": "globex" }), "tenant"),
    ];
    for (arguments, field) in cases {
        let functions = Arc::new(Double::sound());
        let result = call(&functions, &arguments).await;
        assert_eq!(result["isError"], true, "{arguments}");
        assert!(result.get("structuredContent").is_none());
        let failure: Value = serde_json::from_str(text(&result)).unwrap();
        let error = &failure["error"];
        assert_eq!((&error["code"], &error["field"]), (&json!("invalid_input"), &json!(field)), "{arguments}");
        assert_eq!(error["retry"], "never");
        let way = if field == "tenant" { "leave `tenant` out".to_owned() } else { format!("correct `{field}`") };
        assert_eq!(error["next_step"], format!("{way} and call again"));
        assert!(!text(&result).contains("secret-secret"), "{result}");
        assert!(functions.invocations().is_empty());
    }
}

#[tokio::test]
async fn a_refused_choice_names_every_word_that_could_be_chosen() {
    let functions = Arc::new(Double::sound());
    let arguments = json!({ "proposal_id": "prop_abcdefghijklmnopqrstuvwxyz", "currency": "CHF" });
    let refused = call(&functions, &arguments).await;
    let error: Value = serde_json::from_str(text(&refused)).unwrap();
    let message = error["error"]["message"].as_str().unwrap();
    assert!(["EUR", "USD", "GBP", "JPY", "KWD", "ISK"].iter().all(|word| message.contains(word)), "{message}");
    assert!(!message.contains("CHF"), "{message}");
}

#[tokio::test]
async fn a_function_finds_the_call_in_its_client_context() {
    let functions = Arc::new(Double::sound());
    call(&functions, &arguments()).await;
    let mut context = functions.invocations()[0].context.clone();
    let request_id = context["custom"]["bedrockAgentCoreAwsRequestId"].take();
    assert_eq!(request_id.as_str().unwrap().len(), 36);
    let expected = json!({ "custom": {
        "bedrockAgentCoreMessageVersion": "1.0",
        "bedrockAgentCoreAwsRequestId": null,
        "bedrockAgentCoreMcpMessageId": "7",
        "bedrockAgentCoreGatewayId": "gw-test",
        "bedrockAgentCoreTargetId": "SubmitRefund",
        "bedrockAgentCoreToolName": TOOL,
        "bedrockAgentCorePropagatedHeaders": { "x-countersign-caller": "caller:agent" },
    }});
    assert_eq!(context, expected);
}

#[tokio::test]
async fn a_tools_own_failure_is_an_error_in_text_alone() {
    let failure =
        json!({ "error": { "code": "approval_required", "message": "m", "next_step": "n", "retry": "later" } });
    let functions = Arc::new(Double::returning(failure.clone()));
    let result = call(&functions, &arguments()).await;
    assert_eq!(result["isError"], true);
    assert!(result.get("structuredContent").is_none());
    assert_eq!(serde_json::from_str::<Value>(text(&result)).unwrap(), failure);
}

#[tokio::test]
async fn a_function_errors_text_stays_behind_the_gateway() {
    let functions = Arc::new(Double::failing("panicked at table ledger-7: secret"));
    let result = call(&functions, &arguments()).await;
    assert_eq!(result["isError"], true);
    assert!(!result.to_string().contains("secret"));
}

#[tokio::test]
async fn an_answer_that_breaks_its_contract_is_withheld() {
    let unfit = [
        json!({ "operation_id": "op_1", "state": "secret" }),
        json!({ "operation_id": "op_1" }),
        json!({ "operation_id": format!("secret{}", "x".repeat(64)), "state": "queued" }),
    ];
    for answer in unfit {
        let functions = Arc::new(Double::returning(answer));
        let result = call(&functions, &arguments()).await;
        assert_eq!(result["isError"], true);
        assert!(result.get("structuredContent").is_none());
        assert!(!result.to_string().contains("op_1") && !result.to_string().contains("secret"));
        assert_eq!(functions.invocations().len(), 1);
    }
}

#[tokio::test]
async fn an_answer_that_the_interceptor_did_not_see_is_withheld() {
    let functions = Arc::new(Double::sound().with(Interceptor::FailsAfterwards));
    let result = call(&functions, &arguments()).await;
    assert_eq!(result["isError"], true);
    assert!(!result.to_string().contains("op_1") && !result.to_string().contains("secret"));
}

#[tokio::test]
async fn the_interceptors_question_to_the_user_reaches_a_client_of_2026_07_28() {
    let functions = Arc::new(Double::sound().with(Interceptor::Asks));
    assert_eq!(call(&functions, &arguments()).await, question());
}

#[tokio::test]
async fn a_caller_too_large_for_a_client_context_is_not_invoked() {
    let functions = Arc::new(Double::sound());
    let url = endpoint(&functions).await;
    let response = tools_call(&url, &arguments()).bearer_auth("x".repeat(3_000)).send().await.unwrap();
    assert_eq!(message(response).await["result"]["isError"], true);
    assert!(functions.invocations().is_empty());
}

#[test]
fn a_tool_that_cannot_be_listed_is_refused_at_start() {
    let listed = |target: &str, contract: Value| ListedTool { target: target.to_owned(), contract };
    let start = |tools| {
        let settings = Settings {
            gateway_id: String::new(),
            issuer: String::new(),
            authorizer: any_token(),
            shutdown: tokio_util::sync::CancellationToken::new(),
        };
        router(tools, Arc::new(Double::sound()), settings).map(|_| ())
    };
    let mut silent = contract();
    silent["annotations"].as_object_mut().unwrap().remove("openWorldHint");
    let mut broken = contract();
    broken["inputSchema"]["properties"]["amount_minor"]["type"] = json!("money");
    let mut remote = contract();
    remote["inputSchema"]["properties"]["amount_minor"] = json!({ "$ref": "https://example.com/amount.json" });

    assert!(matches!(start(vec![listed("SubmitRefund", silent)]), Err(CatalogError::Contract { .. })));
    assert!(matches!(start(vec![listed("SubmitRefund", broken)]), Err(CatalogError::Schema { .. })));
    assert!(matches!(start(vec![listed("SubmitRefund", remote)]), Err(CatalogError::Schema { .. })));
    assert!(matches!(start(vec![listed("submit_refund", contract())]), Err(CatalogError::Target(_))));
    let twice = vec![listed("SubmitRefund", contract()), listed("SubmitRefund", contract())];
    assert!(matches!(start(twice), Err(CatalogError::Twice(_))));
    assert!(start(vec![listed("SubmitRefund", contract())]).is_ok());
}
