//! Projections: a contract cut down to the keywords that a gateway's inline schema takes.
//!
//! Those are `type`, `properties`, `required`, `items` and `description`
//! (<https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-add-target-lambda.html>). What the others
//! say, the descriptions say too, so that a reader of the descriptions alone can form every valid call.

use serde_json::{Map, Value, json};

/// The keywords whose meaning a contract's descriptions repeat in words.
const SPOKEN: [&str; 9] =
    ["enum", "pattern", "format", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"];

/// Why a contract cannot be projected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectionError {
    /// A keyword would be lost: no description says it.
    #[error("no description says what the keyword `{0}` says; teach the projection to, or leave the keyword out")]
    Unspoken(String),
    /// It is no contract.
    #[error("the contract has no `{0}`; print it again with `--contract`")]
    Missing(&'static str),
}

/// A contract as a gateway's inline schema: `{"name", "description", "inputSchema", "outputSchema"}`.
///
/// # Errors
/// When a bound would be lost, or it is no contract.
pub fn projection(contract: &Value) -> Result<Value, ProjectionError> {
    let member = |name: &'static str| contract.get(name).ok_or(ProjectionError::Missing(name));
    Ok(json!({
        "name": member("name")?,
        "description": member("description")?,
        "inputSchema": project(member("inputSchema")?, false)?,
        "outputSchema": project(member("outputSchema")?, false)?,
    }))
}

fn project(schema: &Value, optional: bool) -> Result<Value, ProjectionError> {
    let members = schema.as_object().ok_or(ProjectionError::Missing("schema"))?;
    let mut projected = Map::new();
    let mut sentences: Vec<&str> = members.get("description").and_then(Value::as_str).into_iter().collect();
    if optional {
        sentences.push("Optional: absent or a value, never null.");
    }
    for (keyword, value) in members {
        let kept = match keyword.as_str() {
            "type" | "required" => value.clone(),
            "items" => project(value, false)?,
            "properties" => properties(value, members.get("required"))?,
            "additionalProperties" if *value == Value::Bool(false) => {
                sentences.push("No other members are accepted.");
                continue;
            }
            "description" => continue,
            spoken if SPOKEN.contains(&spoken) => continue,
            other => return Err(ProjectionError::Unspoken(other.to_owned())),
        };
        projected.insert(keyword.clone(), kept);
    }
    if !sentences.is_empty() {
        projected.insert("description".to_owned(), sentences.join(" ").into());
    }
    Ok(projected.into())
}

fn properties(properties: &Value, required: Option<&Value>) -> Result<Value, ProjectionError> {
    let required: Vec<&str> =
        required.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let all = properties.as_object().into_iter().flatten();
    all.map(|(name, schema)| Ok((name.clone(), project(schema, !required.contains(&name.as_str()))?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract(input: Value) -> Value {
        json!({ "name": "n", "description": "d", "inputSchema": input, "outputSchema": { "type": "object" } })
    }

    #[test]
    fn only_the_gateway_s_keywords_are_left_and_an_optional_member_says_so() {
        let input = json!({
            "type": "object", "additionalProperties": false, "required": ["a"],
            "properties": {
                "a": { "type": "integer", "minimum": 1, "description": "A. At least 1." },
                "b": { "type": "array", "maxItems": 2, "items": { "type": "string", "maxLength": 3 } },
            },
        });
        let expected = json!({
            "type": "object", "required": ["a"], "description": "No other members are accepted.",
            "properties": {
                "a": { "type": "integer", "description": "A. At least 1." },
                "b": {
                    "type": "array", "items": { "type": "string" },
                    "description": "Optional: absent or a value, never null.",
                },
            },
        });
        assert_eq!(projection(&contract(input)).unwrap()["inputSchema"], expected);
    }

    #[test]
    fn a_keyword_that_no_description_says_is_refused() {
        let input = json!({ "type": "object", "properties": { "a": { "type": "integer", "multipleOf": 5 } } });
        let refused = projection(&contract(input)).unwrap_err();
        assert_eq!(refused, ProjectionError::Unspoken("multipleOf".to_owned()));
        assert_eq!(projection(&json!({ "name": "n" })).unwrap_err(), ProjectionError::Missing("description"));
    }
}
