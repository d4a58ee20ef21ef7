//! Reads `[package.metadata.countersign]`, where a package says that it is a function, and of what kind.

use std::path::PathBuf;
use std::time::Duration;

use cargo_metadata::Metadata;
use serde::Deserialize;
use serde_json::Value;

use super::{BuildError, Function, Trigger};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    trigger: Trigger,
    timeout_s: u64,
    memory_mb: u32,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    tables: Vec<String>,
    schedule_s: Option<u64>,
}

/// The functions that the workspace declares, by name; their paths are yet to be filled in.
pub(super) fn functions(metadata: &Metadata) -> Result<Vec<Function>, BuildError> {
    let mut functions = Vec::new();
    for package in metadata.workspace_packages() {
        if let Some(table) = package.metadata.get("countersign") {
            functions.push(function(package.name.as_str(), table)?);
        }
    }
    functions.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(functions)
}

fn function(package: &str, table: &Value) -> Result<Function, BuildError> {
    let wrong = |reason: String| BuildError::Manifest { package: package.to_owned(), reason };
    let table = Table::deserialize(table).map_err(|error| wrong(error.to_string()))?;
    check(&table).map_err(wrong)?;
    Ok(Function {
        name: package.to_owned(),
        trigger: table.trigger,
        timeout: Duration::from_secs(table.timeout_s),
        memory_mb: table.memory_mb,
        env: table.env,
        tables: table.tables,
        schedule: table.schedule_s.map(Duration::from_secs),
        path: PathBuf::new(),
    })
}

/// What Lambda would refuse, and what would silently do nothing.
/// <https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>
fn check(table: &Table) -> Result<(), String> {
    if !(1..=900).contains(&table.timeout_s) {
        return Err(format!("`timeout_s` is {}; Lambda takes 1 to 900", table.timeout_s));
    }
    if !(128..=10_240).contains(&table.memory_mb) {
        return Err(format!("`memory_mb` is {}; Lambda takes 128 to 10240", table.memory_mb));
    }
    if let Some(name) = table.env.iter().find(|name| !name.starts_with("COUNTERSIGN_")) {
        return Err(format!("`env` holds `{name}`; only names that begin with `COUNTERSIGN_` are declared"));
    }
    // A stream's worker may have a schedule beside it, to sweep up what the stream lost.
    let takes_schedule = matches!(table.trigger, Trigger::Schedule | Trigger::Stream);
    match table.schedule_s {
        None if table.trigger == Trigger::Schedule => {
            Err("`trigger = \"schedule\"` needs `schedule_s`, the seconds between two runs".to_owned())
        }
        Some(0) => Err("`schedule_s` is 0; give the seconds between two runs".to_owned()),
        Some(_) if !takes_schedule => Err("`schedule_s` is for the triggers `schedule` and `stream`".to_owned()),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(table: Value) -> String {
        function("pay", &table).unwrap_err().to_string()
    }

    #[test]
    fn a_complete_table_is_a_function() {
        let table = json!({"trigger": "schedule", "timeout_s": 3, "memory_mb": 256, "schedule_s": 60,
            "env": ["COUNTERSIGN_LEDGER_TABLE"], "tables": ["ledger"]});
        let function = function("pay", &table).unwrap();
        assert_eq!(function.name, "pay");
        assert_eq!(function.trigger, Trigger::Schedule);
        assert_eq!(function.timeout, Duration::from_secs(3));
        assert_eq!(function.schedule, Some(Duration::from_secs(60)));
        assert_eq!(function.env, ["COUNTERSIGN_LEDGER_TABLE"]);
        assert_eq!(function.tables, ["ledger"]);
    }

    #[test]
    fn a_refusal_names_the_package_and_the_field() {
        let typo = refused(json!({"trigger": "tool", "timeout_s": 3, "memory_mb": 128, "timout": 1}));
        assert!(typo.contains("`pay`") && typo.contains("`timout`"), "{typo}");
        let kind = refused(json!({"trigger": "cron", "timeout_s": 3, "memory_mb": 128}));
        assert!(kind.contains("cron"), "{kind}");
    }

    #[test]
    fn what_lambda_would_refuse_is_refused() {
        for (field, value) in [("timeout_s", 0), ("timeout_s", 901), ("memory_mb", 127), ("memory_mb", 10_241)] {
            let mut table = json!({"trigger": "tool", "timeout_s": 3, "memory_mb": 128});
            table[field] = json!(value);
            assert!(refused(table).contains(field), "{field} = {value}");
        }
    }

    #[test]
    fn a_schedule_needs_an_interval_and_nothing_else_takes_one() {
        assert!(refused(json!({"trigger": "schedule", "timeout_s": 3, "memory_mb": 128})).contains("schedule_s"));
        let tool = json!({"trigger": "tool", "timeout_s": 3, "memory_mb": 128, "schedule_s": 5});
        assert!(refused(tool).contains("schedule_s"));
    }
}
