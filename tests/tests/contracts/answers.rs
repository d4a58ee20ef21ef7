//! Answers: none can be larger than its contract says, and what the tools really answer is what it says.

use countersign::bounded::{Currency, Tenant};
use countersign::change::{Change, Step};
use countersign::clock::Timestamp;
use jsonschema::{PatternOptions, Validator};
use local::world;
use refunds::Order;
use serde_json::{Value, json};
use tests::app::{code, key, prepare, submit};
use tests::{App, run, shared};

use crate::printed::{contracts, texts};
use crate::schema::{Contract, Pattern, Schema};

/// The most bytes that a value of this schema can have as JSON. A member without a bound fails.
fn largest(schema: &Schema) -> usize {
    let bound = |bound: Option<usize>| bound.unwrap_or_else(|| panic!("no bound: {schema:?}"));
    match schema.kind.as_str() {
        "object" => {
            let members = schema.properties.iter().map(|(name, schema)| name.len() + 4 + largest(schema));
            2 + members.sum::<usize>()
        }
        "array" => 2 + bound(schema.max_items) * (1 + largest(schema.items.as_ref().unwrap())),
        "boolean" => "false".len(),
        "integer" => {
            let digits = |number: Option<i64>| number.unwrap_or_else(|| panic!("no bound: {schema:?}")).to_string();
            digits(schema.minimum).len().max(digits(schema.maximum).len())
        }
        "string" => {
            if let Some(words) = &schema.words {
                return 2 + words.iter().map(String::len).max().unwrap();
            }
            let plain = match (&schema.pattern, schema.format.as_deref()) {
                (Some(pattern), None) => !Pattern::read(pattern).alphabet.iter().any(|letter| "\"\\".contains(*letter)),
                (None, Some("date-time")) => true,
                _ => false,
            };
            // A control character is six bytes, `\u0001`; nothing that can stand in a text is more.
            2 + bound(schema.max_length) * if plain { 1 } else { 6 }
        }
        other => panic!("teach the proof how large a `{other}` can be"),
    }
}

#[test]
fn no_answer_can_be_larger_than_its_contract_says() {
    run(async {
        for Contract { name, output_schema, max_response_bytes, .. } in contracts().await {
            let most = largest(&output_schema);
            assert!(most <= max_response_bytes, "{name}: an answer can have {most} bytes of {max_response_bytes}");
            assert!(most * 4 > max_response_bytes, "{name}: {max_response_bytes} bytes are never needed, {most} are");
        }
    });
}

/// What a contract promises of an answer.
struct Promise {
    output: Validator,
    contract: Contract,
}

impl Promise {
    async fn of(tool: &str) -> Self {
        let (_, text) = texts().await.into_iter().find(|(name, _)| name == tool).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let options = jsonschema::draft202012::options().with_pattern_options(PatternOptions::regex());
        let output = options.should_validate_formats(true).build(&value["outputSchema"]).unwrap();
        Self { output, contract: serde_json::from_value(value).unwrap() }
    }

    fn holds_of(&self, answer: &Value) {
        let errors: Vec<String> = self.output.iter_errors(answer).map(|error| error.to_string()).collect();
        assert_eq!((code(answer), errors), ("ok", Vec::new()), "{}: {answer}", self.contract.name);
        assert!(answer.to_string().len() <= self.contract.max_response_bytes, "{answer}");
        only_members(&self.contract.output_schema, answer);
    }
}

/// An answer has no member that its schema does not name.
fn only_members(schema: &Schema, answer: &Value) {
    for (name, value) in answer.as_object().into_iter().flatten() {
        only_members(schema.properties.get(name).unwrap_or_else(|| panic!("`{name}` is not promised")), value);
    }
    for value in answer.as_array().into_iter().flatten() {
        only_members(schema.items.as_ref().unwrap(), value);
    }
}

async fn call(app: &App, tool: &str, arguments: Value) -> Value {
    let answer = app.direct("acme-agent").call(tool, arguments).await;
    Promise::of(tool).await.holds_of(&answer);
    answer
}

#[test]
fn the_answers_of_a_whole_refund_are_as_their_contracts_promise() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 50_000).await;
        let first = call(app, "prepare_refund", prepare(&order, 1)).await;
        assert_eq!(call(app, "prepare_refund", prepare(&order, 1)).await["proposal_id"], first["proposal_id"]);
        let (proposal, key) = (app.approved(&order, 1).await, key());
        let submitted = call(app, "submit_refund", submit(&proposal, &key)).await;
        let operation = json!({ "operation_id": submitted["operation_id"] });
        call(app, "get_refund_status", operation.clone()).await;
        app.until(submitted["operation_id"].as_str().unwrap(), "succeeded").await;
        call(app, "get_refund_status", operation).await;
        call(app, "submit_refund", submit(&proposal, &key)).await;
        assert_ne!(call(app, "prepare_refund", prepare(&order, 1)).await["similar_operation_id"], Value::Null);
        call(app, "get_order_summary", json!({ "order_id": order.id })).await;
    });
}

#[test]
fn the_longest_note_in_the_longest_spelling_still_fits() {
    run(async {
        let app = shared().await;
        for letter in ["\u{1}", "\"", "😀", "\u{202e}"] {
            let id = format!("ord_N{}", tests::unique());
            let note = letter.repeat(600);
            let made = world::order_of("acme", &id, Currency::Kwd, 999_999_999_999, 0, Some(&note), Timestamp::now());
            let order: Order = made.unwrap();
            let at = Order::key(&Tenant::parse("acme").unwrap(), &order.id);
            app.commit(Change(vec![Step::create(at, order.item())])).await;
            let answer = call(app, "get_order_summary", json!({ "order_id": id })).await;
            assert_eq!(answer["untrusted_text"]["customer_note"], letter.repeat(500));
            assert_eq!(answer["untrusted_text"]["customer_note_truncated"], true);
        }
    });
}
