//! Sentences for the bounds of types that bring none of their own, such as a list or a free text.

use serde_json::{Map, Value};

/// The bounds of a schema as sentences; empty where it has none.
pub(super) fn of(schema: &Map<String, Value>) -> String {
    let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    let words = schema.get("enum").and_then(Value::as_array).map(|words| {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        format!("One of: {}.", words.join(", "))
    });
    let sentences = [
        words,
        span(schema, "minimum", "maximum", ""),
        span(schema, "minLength", "maxLength", " characters"),
        span(schema, "minItems", "maxItems", " items"),
        text("pattern").map(|pattern| format!("Matches `{pattern}`.")),
        text("format").map(|format| format!("Written as {format}.")),
    ];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn span(schema: &Map<String, Value>, least: &str, most: &str, unit: &str) -> Option<String> {
    let number = |keyword: &str| schema.get(keyword).filter(|value| value.is_number());
    match (number(least), number(most)) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}.")),
        (Some(least), None) => Some(format!("At least {least}{unit}.")),
        (None, Some(most)) => Some(format!("At most {most}{unit}.")),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_bound_has_a_sentence() {
        let rows = [
            (json!({ "type": "string", "maxLength": 500 }), "At most 500 characters."),
            (json!({ "type": "string", "minLength": 1, "maxLength": 5 }), "1 to 5 characters."),
            (json!({ "type": "array", "maxItems": 20 }), "At most 20 items."),
            (json!({ "type": "array", "minItems": 1 }), "At least 1 items."),
            (json!({ "type": "integer", "minimum": 0, "format": "uint8" }), "At least 0. Written as uint8."),
            (json!({ "enum": ["a", "b"] }), "One of: a, b."),
            (json!({ "pattern": "^a$" }), "Matches `^a$`."),
            (json!({ "type": "boolean", "description": "Whether." }), ""),
        ];
        for (schema, expected) in rows {
            assert_eq!(of(schema.as_object().unwrap()), expected, "{schema}");
        }
    }
}
