//! Contracts: what a tool promises, generated from its Rust types, whole, in one JSON text.
//!
//! The gateway takes only `type`, `properties`, `required`, `items` and `description` of a schema
//! (<https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-add-target-lambda.html>), so every bound also
//! stands in the description, where the model reads it.

mod projection;
mod prose;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::bounded::BOUNDS;
use crate::digest::Digest;
use crate::tool::{About, Hints, Tier, Tool};

pub use projection::{ProjectionError, projection};

/// A tool's contract, as `tool-definitions/<tool>.json` holds it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Contract {
    /// The tool's name.
    pub name: &'static str,
    title: &'static str,
    description: &'static str,
    version: &'static str,
    tier: Tier,
    input_schema: Value,
    output_schema: Value,
    annotations: Hints,
    /// Who may call: the caller needs one of these.
    roles: &'static [&'static str],
    max_response_bytes: usize,
}

impl Contract {
    /// The contract of a tool.
    #[must_use]
    pub fn of<T: Tool>() -> Self {
        let About { title, description, version, tier, hints, roles, max_response_bytes } = T::ABOUT;
        Self {
            name: T::NAME,
            title,
            description,
            version,
            tier,
            input_schema: schema::<T::Input>(SchemaSettings::draft2020_12()),
            output_schema: schema::<T::Output>(SchemaSettings::draft2020_12().for_serialize()),
            annotations: hints,
            roles,
            max_response_bytes,
        }
    }

    /// The contract as text: two spaces, members in alphabetical order, a newline at the end. The digest is over
    /// exactly these bytes.
    #[must_use]
    pub fn to_text(&self) -> String {
        let value = sorted(serde_json::to_value(self).unwrap_or_default());
        serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
    }

    /// The digest by which a registry knows what was approved.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_bytes(self.to_text().as_bytes())
    }

    /// The names of all arguments, and of those among them that are required.
    #[must_use]
    pub fn arguments(&self) -> (Vec<String>, Vec<String>) {
        let properties = self.input_schema.get("properties").and_then(Value::as_object);
        let required = self.input_schema.get("required").and_then(Value::as_array);
        let name = |value: &Value| value.as_str().map(str::to_owned);
        (
            properties.map(|all| all.keys().cloned().collect()).unwrap_or_default(),
            required.map(|all| all.iter().filter_map(name).collect()).unwrap_or_default(),
        )
    }
}

/// The whole schema of a type, everything inlined.
fn schema<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(root) = &mut schema {
        // What the whole is for, the tool's own description says.
        root.remove("title");
        root.remove("description");
    }
    finish(&mut schema);
    schema
}

/// Appends bounds to descriptions, and makes an optional member one that is absent or has a value, never null.
fn finish(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            describe(members);
            unite(members);
            members.values_mut().for_each(finish);
        }
        Value::Array(items) => items.iter_mut().for_each(finish),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn describe(members: &mut Map<String, Value>) {
    let bounds = match members.remove(BOUNDS) {
        Some(Value::String(bounds)) => bounds,
        _ => prose::of(members),
    };
    if bounds.is_empty() {
        return;
    }
    let description = match members.get("description").and_then(Value::as_str) {
        Some(said) => format!("{} {bounds}", said.split_whitespace().collect::<Vec<_>>().join(" ")),
        None => bounds,
    };
    members.insert("description".to_owned(), Value::String(description));
}

fn unite(members: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            members.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(words)) = members.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
}

/// The same value with every object's members in alphabetical order, whatever map `serde_json` was built with.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.into_iter().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(members.into_iter().map(|(name, value)| (name, sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}
