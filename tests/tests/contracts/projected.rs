//! Projections: what is left of a contract for a gateway that takes five keywords still says everything.

use countersign::contract::projection;
use local::binaries;
use serde_json::{Value, json};
use tests::run;
use tests::watched::Watch;
use tokio::process::Command;

use crate::printed::texts;
use crate::prose::unsaid;
use crate::schema::{Contract, Pattern, Schema};

const KEYWORDS: [&str; 5] = ["type", "properties", "required", "items", "description"];

/// Holds a projected schema against the full one.
fn hold(path: &str, full: &Schema, projected: &Value) {
    for keyword in projected.as_object().unwrap().keys() {
        assert!(KEYWORDS.contains(&keyword.as_str()), "{path} has the keyword `{keyword}`");
    }
    assert_eq!(projected["type"], full.kind, "{path}");
    let required: Vec<&str> =
        projected["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert_eq!(required, full.required, "{path}");
    let text = projected["description"].as_str().unwrap_or_default();
    assert_eq!(unsaid(full, text), Vec::<&str>::new(), "{path}: {text}");
    assert_eq!(text.contains("No other members"), full.additional_properties == Some(false), "{path}: {text}");
    let members = projected["properties"].as_object();
    assert_eq!(members.map_or(0, serde_json::Map::len), full.properties.len(), "{path}");
    for (name, schema) in &full.properties {
        let (path, projected) = (format!("{path}.{name}"), &projected["properties"][name]);
        let optional = projected["description"].as_str().unwrap().contains("Optional:");
        assert_eq!(optional, !full.required.contains(name), "{path}");
        hold(&path, schema, projected);
    }
    assert_eq!(projected.get("items").is_some(), full.items.is_some(), "{path}");
    if let Some(items) = &full.items {
        hold(&format!("{path}[]"), items, &projected["items"]);
    }
}

#[test]
fn a_projection_has_the_gateway_s_five_keywords_and_every_bound_in_words() {
    run(async {
        for (tool, text) in texts().await {
            let projected = projection(&serde_json::from_str(&text).unwrap()).unwrap();
            let contract: Contract = serde_json::from_str(&text).unwrap();
            let members: Vec<&String> = projected.as_object().unwrap().keys().collect();
            assert_eq!(members, ["description", "inputSchema", "name", "outputSchema"], "{tool}");
            assert_eq!((&projected["name"], &projected["description"]), (&json!(tool), &json!(contract.description)));
            hold(&format!("{tool} input"), &contract.input_schema, &projected["inputSchema"]);
            hold(&format!("{tool} output"), &contract.output_schema, &projected["outputSchema"]);
        }
    });
}

/// A value that a reader forms who sees the description and nothing else.
fn formed(text: &str) -> Value {
    let after = |sign: &str| text.split_once(sign).map(|(_, rest)| rest);
    if let Some(words) = after("One of: ") {
        return json!(words.split([',', '.']).next().unwrap());
    }
    if let Some((before, class)) = text.split_once(" characters of ") {
        let prefix = before.split_once("` followed by ").map_or("", |(said, _)| said.rsplit('`').next().unwrap());
        let length = before.rsplit(' ').next().unwrap();
        let class = &class[..=class.find(']').unwrap()];
        return json!(Pattern::read(&format!("^{prefix}{class}{{{length}}}$")).text(length.parse().unwrap(), 7));
    }
    let most = after("A whole number of ").and_then(|rest| rest.split(" to ").nth(1)).unwrap();
    json!(most.trim_end_matches('.').parse::<i64>().unwrap())
}

#[test]
fn a_reader_of_the_descriptions_alone_forms_calls_that_are_taken() {
    run(async {
        let watch = Watch::new().await;
        for (tool, text) in texts().await {
            let projected = projection(&serde_json::from_str(&text).unwrap()).unwrap();
            let arguments: Value = projected["inputSchema"]["properties"]
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, schema)| (name.clone(), formed(schema["description"].as_str().unwrap())))
                .collect::<serde_json::Map<_, _>>()
                .into();
            let watched = watch.bytes(&watch.app.direct("acme-agent"), &tool, arguments.to_string()).await;
            assert!(watched.is_taken(), "{tool} {arguments}: {:?}", watched.summary());
        }
    });
}

/// Runs the registry's command line.
async fn registry(arguments: &[&str]) -> std::process::Output {
    let functions = binaries::build(|_| ()).await.unwrap();
    Command::new(functions[0].path.with_file_name("registry")).args(arguments).output().await.unwrap()
}

#[test]
fn the_registry_prints_a_tool_as_a_list_of_inline_definitions() {
    run(async {
        let printed = registry(&["render", "--projection", "prepare_refund"]).await;
        assert!(printed.status.success(), "{printed:?}");
        let (_, text) = texts().await.into_iter().find(|(tool, _)| tool == "prepare_refund").unwrap();
        let expected = json!([projection(&serde_json::from_str(&text).unwrap()).unwrap()]);
        assert_eq!(serde_json::from_slice::<Value>(&printed.stdout).unwrap(), expected);
        let amount = &expected[0]["inputSchema"]["properties"]["amount_minor"];
        let minor = "A whole number of minor units (cents for EUR, whole yen for JPY, fils for KWD)";
        assert_eq!(
            amount["description"],
            format!("The requested refund. In KWD a multiple of 10. {minor}, 1 to 50000.")
        );

        let unknown = registry(&["render", "--projection", "issue_refund"]).await;
        let said = String::from_utf8(unknown.stderr).unwrap();
        assert!(!unknown.status.success() && said.contains("prepare_refund"), "{said}");
    });
}
