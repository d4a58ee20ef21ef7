//! The RESPONSE half: a tool's answer is one JSON text in the gateway's hands; clients get it in MCP's form.
//!
//! A failure is `isError` with text alone: structured content on an error makes strict clients drop the error. A success
//! has structured content and the same as text.

use serde_json::{Value, json};

/// The response as the client gets it.
pub(crate) fn translate(request: Option<&Value>, response: &Value) -> Value {
    let status = response.get("statusCode").cloned().unwrap_or(json!(200));
    let mut body = response.get("body").cloned().unwrap_or(Value::Null);
    let called = request.and_then(|request| request.pointer("/body/method")) == Some(&json!("tools/call"));
    let result = called.then(|| body.get("result").and_then(shaped)).flatten();
    if let (Some(result), Some(message)) = (result, body.as_object_mut()) {
        message.insert("result".to_owned(), result);
    }
    json!({ "transformedGatewayResponse": { "statusCode": status, "body": body } })
}

/// The result in MCP's form; `None` where it is no tool's answer and stays as it is.
fn shaped(result: &Value) -> Option<Value> {
    if result.get("isError") == Some(&json!(true)) {
        return None;
    }
    let text = result.pointer("/content/0/text")?.as_str()?;
    let answer: Value = serde_json::from_str(text).ok().filter(Value::is_object)?;
    let content = json!([{ "type": "text", "text": text }]);
    Some(match answer.get("error") {
        Some(_) => json!({ "content": content, "isError": true }),
        None => json!({ "content": content, "structuredContent": answer, "isError": false }),
    })
}
