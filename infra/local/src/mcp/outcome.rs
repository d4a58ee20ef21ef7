//! The answers that the endpoint gives in its own name, and its last look at those of others.

use jsonschema::{ValidationError, error::ValidationErrorKind};
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult, ResultType};
use serde_json::{Value, json};

use super::catalog::Entry;

/// The most characters of a text that may hold a client's own words.
const MAX_ECHO_CHARS: usize = 200;

/// What a client hears of anything that went wrong behind the gateway. The log knows more.
pub(super) fn internal() -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text("An internal error occurred. Please retry later.")])
}

/// The refusal of arguments that break the input schema, in the form of a tool's own failures.
///
/// The rejected value is never repeated: it may be long, and it may be what a model was told to leak.
pub(super) fn invalid_input(violation: &ValidationError<'_>) -> CallToolResult {
    let field = field(violation);
    let unknown = matches!(violation.kind(), ValidationErrorKind::AdditionalProperties { .. });
    let next_step = match field.as_str() {
        "" => "correct the arguments and call again".to_owned(),
        field if unknown => format!("leave `{field}` out and call again"),
        field => format!("correct `{field}` and call again"),
    };
    let failure = json!({ "error": {
        "code": "invalid_input",
        "message": shorten(&message(violation)),
        "field": field,
        "next_step": next_step,
        "retry": "never",
    }});
    CallToolResult::error(vec![ContentBlock::text(failure.to_string())])
}

/// What is wrong, without what was sent. A choice names all of its words, where the validator would leave some out.
fn message(violation: &ValidationError<'_>) -> String {
    if let ValidationErrorKind::Enum { options } = violation.kind()
        && let Some(words) = options.as_array()
    {
        let words = words.iter().map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned));
        return format!("expected one of: {}", words.collect::<Vec<_>>().join(", "));
    }
    violation.masked().to_string()
}

/// The member that is wrong, missing or too many, with dots between levels.
fn field(violation: &ValidationError<'_>) -> String {
    let mut path: Vec<String> =
        violation.instance_path().as_str().split('/').filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect();
    if let ValidationErrorKind::Required { property: Value::String(name) } = violation.kind() {
        path.push(name.clone());
    }
    if let ValidationErrorKind::AdditionalProperties { unexpected } = violation.kind() {
        path.extend(unexpected.first().cloned());
    }
    shorten(&path.join("."))
}

/// The first characters of a text that may be of any length.
pub(super) fn shorten(text: &str) -> String {
    text.chars().take(MAX_ECHO_CHARS).collect()
}

/// Why an answer may not leave the gateway.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfit {
    /// Neither a tool result nor a question to the user.
    #[error("answer is no tool result")]
    Shape(#[source] serde_json::Error),
    /// A success without the structured content that the contract promises.
    #[error("answer has no structured content")]
    Unstructured,
    /// Structured content that breaks the output schema.
    #[error("answer breaks its output schema at `{0}`")]
    Schema(String),
    /// More bytes than the contract allows.
    #[error("answer has {0} bytes, more than its contract allows")]
    TooLarge(usize),
}

/// Takes a `result` as the RESPONSE interceptor left it, and holds a success against the tool's contract.
pub(super) fn fit(entry: &Entry, result: Value) -> Result<CallToolResponse, Unfit> {
    if result.get("resultType").and_then(Value::as_str) == Some("input_required") {
        return serde_json::from_value::<InputRequiredResult>(result).map(Into::into).map_err(Unfit::Shape);
    }
    let mut result: CallToolResult = serde_json::from_value(result).map_err(Unfit::Shape)?;
    // An interceptor need not know the generation of the client. Strict clients of 2026-07-28 insist on the type; for
    // older ones rmcp takes it off again.
    result.result_type.get_or_insert(ResultType::COMPLETE);
    if result.is_error != Some(true) {
        let content = result.structured_content.as_ref().ok_or(Unfit::Unstructured)?;
        let length = content.to_string().len();
        if length > entry.max_response_bytes {
            return Err(Unfit::TooLarge(length));
        }
        entry.output.validate(content).map_err(|violation| Unfit::Schema(field(&violation)))?;
    }
    Ok(result.into())
}
