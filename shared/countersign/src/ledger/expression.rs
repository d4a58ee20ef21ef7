//! A step as DynamoDB's expressions: names and values are placeholders, so no text of ours is ever syntax.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::change::{Edit, Guard};
use crate::item::{Attr, Item, Value};

/// The expressions of one step with their placeholders.
#[derive(Debug, Default)]
pub(super) struct Expressions {
    names: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
}

impl Expressions {
    /// The condition that all guards hold.
    pub(super) fn condition(&mut self, guards: &[Guard]) -> Option<String> {
        let terms: Vec<String> = guards.iter().map(|guard| self.term(guard)).collect();
        (!terms.is_empty()).then(|| terms.join(" AND "))
    }

    /// The update that makes all edits.
    pub(super) fn update(&mut self, edits: &[Edit]) -> String {
        let (mut set, mut add, mut remove) = (Vec::new(), Vec::new(), Vec::new());
        for edit in edits {
            match edit {
                Edit::Set(attr, value) => set.push(format!("{} = {}", self.name(attr), self.value(value))),
                Edit::Add(attr, number) => {
                    add.push(format!("{} {}", self.name(attr), self.value(&Value::Integer(*number))));
                }
                Edit::Remove(attr) => remove.push(self.name(attr)),
            }
        }
        [("SET", set), ("ADD", add), ("REMOVE", remove)]
            .into_iter()
            .filter(|(_, parts)| !parts.is_empty())
            .map(|(word, parts)| format!("{word} {}", parts.join(", ")))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The placeholders of names, if any were used.
    pub(super) fn names(&self) -> Option<HashMap<String, String>> {
        (!self.names.is_empty()).then(|| self.names.clone())
    }

    /// The placeholders of values, if any were used.
    pub(super) fn values(&self) -> Option<HashMap<String, AttributeValue>> {
        (!self.values.is_empty()).then(|| self.values.clone())
    }

    fn term(&mut self, guard: &Guard) -> String {
        match guard {
            Guard::Absent => format!("attribute_not_exists({})", self.name("pk")),
            Guard::Present => format!("attribute_exists({})", self.name("pk")),
            Guard::Is(attr, value) => format!("{} = {}", self.name(attr), self.value(value)),
            Guard::Lacks(attr) => format!("attribute_not_exists({})", self.name(attr)),
            Guard::AtLeast(attr, least) => {
                format!("{} >= {}", self.name(attr), self.value(&Value::Integer(*least)))
            }
            Guard::After(attr, moment) => {
                format!("{} > {}", self.name(attr), self.value(&Value::Integer(moment.seconds())))
            }
        }
    }

    fn name(&mut self, attr: Attr) -> String {
        let placeholder = format!("#{attr}");
        self.names.insert(placeholder.clone(), attr.to_owned());
        placeholder
    }

    fn value(&mut self, value: &Value) -> String {
        let placeholder = format!(":v{}", self.values.len());
        self.values.insert(placeholder.clone(), to_attribute(value));
        placeholder
    }
}

/// A value as DynamoDB has it.
fn to_attribute(value: &Value) -> AttributeValue {
    match value {
        Value::Text(text) => AttributeValue::S(text.clone()),
        Value::Integer(number) => AttributeValue::N(number.to_string()),
        Value::Flag(flag) => AttributeValue::Bool(*flag),
    }
}

/// A record with its key as DynamoDB has it.
pub(super) fn to_attributes(pk: &str, item: &Item) -> HashMap<String, AttributeValue> {
    let mut attributes: HashMap<_, _> =
        item.iter().map(|(name, value)| (name.to_owned(), to_attribute(value))).collect();
    attributes.insert("pk".to_owned(), AttributeValue::S(pk.to_owned()));
    attributes
}

/// A record as the product has it, without its key; `None` where an attribute is of no type that the product writes.
pub(super) fn from_attributes(attributes: &HashMap<String, AttributeValue>) -> Option<Item> {
    let mut item = Item::new();
    for (name, attribute) in attributes.iter().filter(|(name, _)| *name != "pk") {
        let value = if let AttributeValue::S(text) = attribute {
            Value::Text(text.clone())
        } else if let AttributeValue::N(number) = attribute {
            Value::Integer(number.parse().ok()?)
        } else if let AttributeValue::Bool(flag) = attribute {
            Value::Flag(*flag)
        } else {
            return None;
        };
        item.insert(name.clone(), value);
    }
    Some(item)
}
