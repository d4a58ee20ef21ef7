//! The tools an endpoint offers, with their schemas compiled once.

use std::collections::BTreeMap;

use jsonschema::{PatternOptions, Validator};
use rmcp::model::Tool;
use serde::Deserialize;
use serde_json::{Value, json};

/// One tool to offer: the contract its binary printed, behind a gateway target.
#[derive(Debug, Clone)]
pub struct ListedTool {
    /// The gateway target, the tool's name in PascalCase: `SubmitRefund`.
    pub target: String,
    /// The contract, as the tool's binary prints it with `--contract`.
    pub contract: Value,
}

/// Why a tool cannot be offered.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// A member is missing or of the wrong type.
    #[error("the contract of target `{target}` cannot be read; print it again with `--contract`")]
    Contract {
        /// The target.
        target: String,
        /// What the parser met.
        source: serde_json::Error,
    },
    /// A target that a gateway would not admit.
    #[error("`{0}` cannot be a target: letters and digits only, and at most 64 characters with the tool's name")]
    Target(String),
    /// A schema that is not a valid JSON Schema.
    #[error("the {which} of `{tool}` is not a valid JSON Schema: {reason}")]
    Schema {
        /// The tool's full name.
        tool: String,
        /// `inputSchema` or `outputSchema`.
        which: &'static str,
        /// What the compiler met.
        reason: String,
    },
    /// Two tools of one name.
    #[error("`{0}` is listed twice; give each tool one target")]
    Twice(String),
}

/// A tool as the endpoint works with it.
#[derive(Debug)]
pub(super) struct Entry {
    /// The gateway target.
    pub(super) target: String,
    /// The function to invoke: the tool's own name, which is also its binary's.
    pub(super) function: String,
    /// The tool as a client sees it.
    pub(super) tool: Tool,
    /// The full input schema, compiled.
    pub(super) input: Validator,
    /// The full output schema, compiled.
    pub(super) output: Validator,
    /// The most bytes of an answer's structured content.
    pub(super) max_response_bytes: usize,
}

/// All tools, by full name.
#[derive(Debug)]
pub(super) struct Catalog(BTreeMap<String, Entry>);

impl Catalog {
    /// Reads the contracts and compiles their schemas.
    pub(super) fn new(tools: Vec<ListedTool>) -> Result<Self, CatalogError> {
        let mut entries = BTreeMap::new();
        for listed in tools {
            let entry = Entry::new(listed)?;
            let name = entry.tool.name.to_string();
            if entries.insert(name.clone(), entry).is_some() {
                return Err(CatalogError::Twice(name));
            }
        }
        Ok(Self(entries))
    }

    /// The tool of this full name.
    pub(super) fn get(&self, name: &str) -> Option<&Entry> {
        self.0.get(name)
    }

    /// Every tool as a client sees it, in the order of names.
    pub(super) fn tools(&self) -> Vec<Tool> {
        self.0.values().map(|entry| entry.tool.clone()).collect()
    }
}

/// The members of a contract that a gateway reads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contract {
    name: String,
    title: String,
    description: String,
    input_schema: Value,
    output_schema: Value,
    annotations: Hints,
    max_response_bytes: usize,
}

/// The four hints. Each must be said: a client assumes the worst of what is not.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hints {
    read_only_hint: bool,
    destructive_hint: bool,
    idempotent_hint: bool,
    open_world_hint: bool,
}

impl Entry {
    fn new(ListedTool { target, contract }: ListedTool) -> Result<Self, CatalogError> {
        let unreadable = |source| CatalogError::Contract { target: target.clone(), source };
        let contract: Contract = serde_json::from_value(contract).map_err(unreadable)?;
        let name = format!("{target}___{}", contract.name);
        let plain = !target.is_empty() && target.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !plain || name.len() > 64 {
            return Err(CatalogError::Target(target));
        }
        let hints = contract.annotations;
        let tool = serde_json::from_value(json!({
            "name": &name,
            "title": contract.title,
            "description": contract.description,
            "inputSchema": &contract.input_schema,
            "outputSchema": &contract.output_schema,
            "annotations": {
                "readOnlyHint": hints.read_only_hint,
                "destructiveHint": hints.destructive_hint,
                "idempotentHint": hints.idempotent_hint,
                "openWorldHint": hints.open_world_hint,
            },
        }))
        .map_err(unreadable)?;
        Ok(Self {
            input: compile(&name, "inputSchema", &contract.input_schema)?,
            output: compile(&name, "outputSchema", &contract.output_schema)?,
            target,
            function: contract.name,
            tool,
            max_response_bytes: contract.max_response_bytes,
        })
    }
}

/// Compiles a schema. Nothing is fetched: the crate is built without resolvers, so a remote `$ref` does not compile.
/// Patterns run on an engine without backtracking, so that no argument can make one slow.
fn compile(tool: &str, which: &'static str, schema: &Value) -> Result<Validator, CatalogError> {
    jsonschema::draft202012::options()
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|error| CatalogError::Schema { tool: tool.to_owned(), which, reason: error.to_string() })
}
