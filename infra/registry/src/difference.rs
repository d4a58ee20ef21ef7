//! Where two contracts differ, by the path of each place.

use serde_json::{Map, Value};

/// Every place at which `new` differs from `old`, with both values.
pub(crate) fn all(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    find(old, new, "", &mut found);
    found
}

fn find(old: &Value, new: &Value, path: &str, found: &mut Vec<String>) {
    match (old, new) {
        _ if old == new => {}
        (Value::Object(before), Value::Object(after)) => {
            let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
            let value = |members: &Map<String, Value>, name: &str| members.get(name).cloned().unwrap_or_default();
            names.for_each(|name| find(&value(before, name), &value(after, name), &format!("{path}/{name}"), found));
        }
        _ => found.push(format!("{path}: {old} is now {new}")),
    }
}
