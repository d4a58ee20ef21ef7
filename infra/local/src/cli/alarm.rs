//! Alarms: a line of a function's log that is for a person, as the person at the terminal is told it, once.

use std::collections::BTreeSet;

use countersign::operation::OPERATOR;
use serde_json::Value;

use crate::issuer::Persona;

/// What has been told.
#[derive(Debug, Default)]
pub(super) struct Alarms(BTreeSet<(String, String)>);

impl Alarms {
    /// What a line of the log tells a person, unless they were told before. A decision about an operation ends that.
    pub(super) fn heard(&mut self, line: &str) -> Option<String> {
        // Most lines are of no interest, and not worth being read.
        if !line.contains("\"alarm\":") && !line.contains("\"resolved\"") {
            return None;
        }
        let line: Value = serde_json::from_str(line).ok()?;
        let of = |name: &str| line.get(name).and_then(Value::as_str);
        let (operation, tenant) = (of("operation_id")?, of("tenant")?);
        let Some(alarm) = of("alarm") else {
            if of("message") == Some("resolved") {
                self.0.retain(|(known, _)| known != operation);
            }
            return None;
        };
        if !self.0.insert((operation.to_owned(), alarm.to_owned())) {
            return None;
        }
        let what = match alarm {
            "needs_operator" => "needs an operator",
            "conflict" => "is contradicted by the provider, and its order is frozen",
            _ => {
                return Some(format!("attention: {operation} of {tenant} was left alone ({alarm}): see functions.log"));
            }
        };
        let persona = operator(tenant).map_or("an operator", |persona| persona.name);
        Some(format!("attention: {operation} of {tenant} {what}: cargo local attention {operation} --as {persona}"))
    }
}

/// Who looks after a tenant's operations.
fn operator(tenant: &str) -> Option<&'static Persona> {
    Persona::people().find(|persona| persona.tenant == tenant && persona.roles.contains(&OPERATOR))
}
