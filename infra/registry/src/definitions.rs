//! The files of `tool-definitions/`: a contract a tool, and `registry.json`, which says what was approved by whom.

use std::collections::BTreeMap;
use std::path::PathBuf;

use countersign::config::Config;
use countersign::contract;
use countersign::digest::Digest;
use local::binaries::{self, BuildError, Trigger};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::difference;

/// Why a command cannot be carried out.
pub(crate) type Stop = Box<dyn std::error::Error + Send + Sync>;

/// A tool as it was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Approved {
    /// Who looked at the contract and at the code behind it.
    approved_by: String,
    /// SHA-256 of the contract file's exact bytes.
    digest: String,
}

/// `registry.json`
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Registry {
    tools: BTreeMap<String, Approved>,
}

/// The contracts as the binaries print them, by tool.
pub(crate) async fn contracts() -> Result<BTreeMap<String, String>, BuildError> {
    let mut contracts = BTreeMap::new();
    for function in binaries::build(|_| ()).await? {
        if function.trigger == Trigger::Tool {
            contracts.insert(function.name.clone(), binaries::contract(&function).await?);
        }
    }
    Ok(contracts)
}

/// Writes every contract to its file.
pub(crate) fn write(contracts: &BTreeMap<String, String>) -> Result<(), Stop> {
    for (tool, contract) in contracts {
        std::fs::write(file(tool), contract)?;
    }
    Ok(())
}

/// One tool as the list of inline tool definitions that a gateway target takes.
pub(crate) fn projection(contracts: &BTreeMap<String, String>, tool: &str) -> Result<String, Stop> {
    let known = || contracts.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let contract =
        contracts.get(tool).ok_or_else(|| format!("there is no tool `{tool}`; choose one of: {}", known()))?;
    let projection = contract::projection(&serde_json::from_str(contract)?)?;
    Ok(serde_json::to_string_pretty(&[projection])?)
}

/// Records that somebody approves a tool's contract as it stands in its file.
pub(crate) fn approve(tool: &str, by: &str) -> Result<(), Stop> {
    let contract =
        std::fs::read(file(tool)).map_err(|_| format!("there is no contract of `{tool}`; render it first"))?;
    let mut registry = registry()?;
    let digest = Digest::of_bytes(&contract).to_string();
    registry.tools.insert(tool.to_owned(), Approved { approved_by: by.to_owned(), digest });
    std::fs::write(folder().join("registry.json"), serde_json::to_string_pretty(&registry)? + "\n")?;
    Ok(())
}

/// Everything that is not as it was approved, a line each.
pub(crate) fn drift(contracts: &BTreeMap<String, String>) -> Result<Vec<String>, Stop> {
    let registry = registry()?;
    let mut drift = Vec::new();
    for (tool, contract) in contracts {
        let kept = std::fs::read_to_string(file(tool)).unwrap_or_default();
        if kept != *contract {
            let old: Value = serde_json::from_str(&kept).unwrap_or_default();
            let places = difference::all(&old, &serde_json::from_str(contract)?);
            drift.extend(places.iter().map(|place| format!("{tool}: {place}")));
            drift.push(format!("{tool}: not what its file says; run `cargo registry render` and have it approved"));
        }
        match registry.tools.get(tool) {
            None => {
                drift.push(format!("{tool}: nobody has approved it; run `cargo registry approve {tool} --by NAME`"))
            }
            Some(approved) if approved.digest != Digest::of_bytes(kept.as_bytes()).to_string() => {
                drift.push(format!("{tool}: {} approved another contract", approved.approved_by));
            }
            Some(_) => {}
        }
    }
    let gone = registry.tools.keys().filter(|tool| !contracts.contains_key(*tool));
    drift.extend(gone.map(|tool| format!("{tool}: approved, but there is no such tool")));
    Ok(drift)
}

fn registry() -> Result<Registry, Stop> {
    match std::fs::read_to_string(folder().join("registry.json")) {
        Ok(text) => Ok(serde_json::from_str(&text)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Registry::default()),
        Err(error) => Err(error.into()),
    }
}

/// Beside the package that Cargo runs: in a moved checkout the binary may be an old one, the folder never.
fn folder() -> PathBuf {
    let package = Config::from_environment().optional("CARGO_MANIFEST_DIR");
    let package = package.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").to_owned());
    PathBuf::from(package).join("../../tool-definitions")
}

fn file(tool: &str) -> PathBuf {
    folder().join(format!("{tool}.json"))
}
