//! Where two contracts differ, by the path of the first place.

use serde_json::Value;

/// The first place at which `new` differs from `old`, with both values.
pub(crate) fn first(old: &Value, new: &Value) -> Option<String> {
    find(old, new, String::new())
}

fn find(old: &Value, new: &Value, path: String) -> Option<String> {
    match (old, new) {
        _ if old == new => None,
        (Value::Object(before), Value::Object(after)) => {
            let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
            names
                .filter_map(|name| {
                    let value =
                        |members: &serde_json::Map<String, Value>| members.get(name).cloned().unwrap_or_default();
                    find(&value(before), &value(after), format!("{path}/{name}"))
                })
                .next()
        }
        _ => Some(format!("{path}: {old} is now {new}")),
    }
}
