//! Prose: what a schema's keywords say, its description says in words.

use tests::run;

use crate::cases::bounds;
use crate::printed::contracts;
use crate::schema::{Pattern, Schema};

/// The keywords of a schema that this text does not say in words.
pub(crate) fn unsaid(schema: &Schema, text: &str) -> Vec<&'static str> {
    bounds(schema).into_iter().filter(|bound| !says(schema, bound, text)).collect()
}

fn says(schema: &Schema, bound: &str, text: &str) -> bool {
    let pattern = schema.pattern.as_deref().map(Pattern::read);
    match bound {
        "enum" => text.contains(&format!("One of: {}.", schema.words.as_ref().unwrap().join(", "))),
        "pattern" => {
            let Pattern { prefix, class, .. } = pattern.unwrap();
            text.contains(&format!("characters of {class}."))
                && (prefix.is_empty() || text.contains(&format!("`{prefix}` followed by ")))
        }
        "minLength" | "maxLength" => {
            let beyond = pattern.map_or(0, |pattern| pattern.prefix.len());
            span(text, schema.min_length.map(|n| n - beyond), schema.max_length.map(|n| n - beyond), " characters")
        }
        "minimum" | "maximum" => span(text, schema.minimum, schema.maximum, "."),
        "maxItems" => span(text, None, schema.max_items, " items"),
        "format" => match schema.format.as_deref() {
            Some("date-time") => text.contains("RFC 3339"),
            other => panic!("teach the proof how a description says the format {other:?}"),
        },
        other => panic!("teach the proof how a description says `{other}`"),
    }
}

/// Whether a text says two bounds together: ` 1 to 28 characters`, ` 26 characters`, `at most 500 characters`.
fn span<N: std::fmt::Display + PartialEq>(text: &str, least: Option<N>, most: Option<N>, unit: &str) -> bool {
    let said = match (least, most) {
        (Some(least), Some(most)) if least == most => format!(" {most}{unit}"),
        (Some(least), Some(most)) => format!(" {least} to {most}{unit}"),
        (None, Some(most)) => format!(" at most {most}{unit}"),
        (Some(least), None) => format!(" at least {least}{unit}"),
        (None, None) => return true,
    };
    format!(" {text}").to_lowercase().contains(&said)
}

/// Every schema below one, with where it stands.
pub(crate) fn below<'a>(schema: &'a Schema, path: &str, found: &mut Vec<(String, &'a Schema)>) {
    found.push((path.to_owned(), schema));
    for (name, schema) in &schema.properties {
        below(schema, &format!("{path}.{name}"), found);
    }
    if let Some(items) = &schema.items {
        below(items, &format!("{path}[]"), found);
    }
}

/// Every schema of every contract.
async fn all() -> Vec<(String, Schema)> {
    let contracts = contracts().await;
    let mut found = Vec::new();
    for contract in &contracts {
        below(&contract.input_schema, &format!("{} input", contract.name), &mut found);
        below(&contract.output_schema, &format!("{} output", contract.name), &mut found);
    }
    found.into_iter().map(|(path, schema)| (path, schema.clone())).collect()
}

#[test]
fn every_bound_of_every_schema_stands_in_its_description() {
    run(async {
        for (path, schema) in all().await {
            assert_eq!(unsaid(&schema, &schema.description), Vec::<&str>::new(), "{path}: {}", schema.description);
        }
    });
}

#[test]
fn a_bound_that_is_taken_out_of_the_description_or_moved_in_the_schema_alone_is_missed() {
    run(async {
        let mut moved = 0;
        for (path, schema) in all().await {
            assert_eq!(unsaid(&schema, ""), bounds(&schema), "{path}");
            for change in MOVES {
                let mut other = schema.clone();
                if change(&mut other) {
                    moved += 1;
                    assert_ne!(unsaid(&other, &other.description), Vec::<&str>::new(), "{path}: {other:?}");
                }
            }
        }
        assert!(moved >= 60, "{moved}");
    });
}

/// Moves one bound, where the schema has it.
const MOVES: [fn(&mut Schema) -> bool; 6] = [
    |schema| schema.maximum.as_mut().map(|most| *most += 1).is_some(),
    |schema| schema.minimum.as_mut().map(|least| *least += 1).is_some(),
    |schema| schema.max_length.as_mut().map(|most| *most += 1).is_some(),
    |schema| schema.max_items.as_mut().map(|most| *most += 1).is_some(),
    |schema| schema.words.as_mut().map(|words| words.push("another".to_owned())).is_some(),
    |schema| schema.pattern.as_mut().map(|pattern| *pattern = pattern.replacen('[', "[.", 1)).is_some(),
];

#[test]
fn every_member_of_every_answer_and_every_argument_has_a_description() {
    run(async {
        for (path, schema) in all().await {
            let of_its_own = path.contains('.') && !path.ends_with("[]");
            assert!(!of_its_own || schema.description.len() > 4, "{path}");
        }
    });
}
