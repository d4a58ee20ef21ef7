//! Alarms: a line of a function's log that is for a person, as the person at the terminal is told it, once.

use std::collections::BTreeSet;
use std::path::Path;

use countersign::operation::OPERATOR;
use serde_json::Value;

use crate::issuer::Persona;

use super::{beside, words};

/// What has been told of a gateway's world.
#[derive(Debug)]
pub(super) struct Alarms {
    told: BTreeSet<(String, String)>,
    beside: String,
}

impl Alarms {
    /// Nothing has been told yet of the world in this folder.
    pub(super) fn of(folder: &Path) -> Self {
        Self { told: BTreeSet::new(), beside: beside(folder) }
    }

    /// What a line of the log tells a person, unless they were told before. A decision about an operation ends that.
    pub(super) fn heard(&mut self, line: &str) -> Option<String> {
        self.tells(line).map(|told| words::visible(&told))
    }

    fn tells(&mut self, line: &str) -> Option<String> {
        // Most lines are of no interest, and not worth being read.
        if !line.contains("\"alarm\":") && !line.contains("\"resolved\"") {
            return None;
        }
        let line: Value = serde_json::from_str(line).ok()?;
        let of = |name: &str| line.get(name).and_then(Value::as_str);
        let (operation, tenant) = (of("operation_id")?, of("tenant")?);
        let Some(alarm) = of("alarm") else {
            if of("message") == Some("resolved") {
                self.told.retain(|(known, _)| known != operation);
            }
            return None;
        };
        if !self.told.insert((operation.to_owned(), alarm.to_owned())) {
            return None;
        }
        let what = match alarm {
            "needs_operator" => "needs an operator",
            "conflict" => "is contradicted by the provider, and its order is frozen",
            _ => {
                return Some(format!("attention: {operation} of {tenant} was left alone ({alarm}): see functions.log"));
            }
        };
        let look = match operator(tenant) {
            Some(persona) => format!("cargo local attention {operation} --as {}{}", persona.name, self.beside),
            None => format!("an operator of {tenant} has to look, and there is none here"),
        };
        Some(format!("attention: {operation} of {tenant} {what}: {look}"))
    }
}

/// Who looks after a tenant's operations.
fn operator(tenant: &str) -> Option<&'static Persona> {
    Persona::people().find(|persona| persona.tenant == tenant && persona.roles.contains(&OPERATOR))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(alarm: &str, tenant: &str) -> String {
        json!({ "message": "delivery", "alarm": alarm, "tenant": tenant, "operation_id": "op_1" }).to_string()
    }

    #[test]
    fn an_alarm_is_told_once_until_somebody_has_decided() {
        let mut alarms = Alarms::of(Path::new(".countersign"));
        let told = alarms.heard(&line("needs_operator", "acme"));
        let expected = "attention: op_1 of acme needs an operator: cargo local attention op_1 --as acme-operator";
        assert_eq!(told.as_deref(), Some(expected));
        assert_eq!(alarms.heard(&line("needs_operator", "acme")), None);
        assert!(alarms.heard(&line("conflict", "initech")).is_some_and(|told| told.ends_with("there is none here")));
        assert_eq!(alarms.heard(&json!({ "message": "delivery", "operation_id": "op_1" }).to_string()), None);
        let resolved = json!({ "message": "resolved", "tenant": "acme", "operation_id": "op_1" });
        assert_eq!(alarms.heard(&resolved.to_string()), None);
        assert!(alarms.heard(&line("conflict", "acme")).is_some());
        // Whatever somebody has written into the ledger.
        let told = alarms.heard(&line("parked", "\u{1b}[2J")).unwrap();
        assert!(told.starts_with("attention: op_1 of \u{fffd}[2J was left alone"), "{told}");
    }

    #[test]
    fn what_is_no_alarm_is_told_to_nobody() {
        let mut alarms = Alarms::of(Path::new("/tmp/other"));
        for line in ["", "panicked: \"alarm\":", "{\"alarm\":1}", "{\"alarm\":\"conflict\"}", "[\"alarm\":"] {
            assert_eq!(alarms.heard(line), None, "{line}");
        }
    }
}
