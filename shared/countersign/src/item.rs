//! Items: flat records of texts, whole numbers and flags, as the tables hold them.

use std::collections::BTreeMap;

use crate::clock::Timestamp;
use crate::failure::Failure;

/// The name of an attribute.
pub type Attr = &'static str;

/// What an attribute holds. There are no sets, maps or binary values in the product.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// DynamoDB's `S`.
    Text(String),
    /// DynamoDB's `N`, whole numbers alone.
    Integer(i64),
    /// DynamoDB's `BOOL`.
    Flag(bool),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}
impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}
impl From<Timestamp> for Value {
    fn from(moment: Timestamp) -> Self {
        Self::Integer(moment.seconds())
    }
}

/// An attribute that is missing or holds something else than the product ever writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored attribute `{0}` is missing or malformed")]
pub struct Corrupt(pub Attr);

impl From<Corrupt> for Failure {
    fn from(corrupt: Corrupt) -> Self {
        Self::internal(corrupt)
    }
}

/// One record without its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Item(BTreeMap<String, Value>);

impl Item {
    /// A record of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The record with one attribute more.
    #[must_use]
    pub fn with(mut self, attr: Attr, value: impl Into<Value>) -> Self {
        self.0.insert(attr.to_owned(), value.into());
        self
    }

    /// The record with one attribute more, where there is a value.
    #[must_use]
    pub fn with_optional(self, attr: Attr, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(attr, value),
            None => self,
        }
    }

    /// Sets an attribute of any name, as it was read from a table.
    pub fn insert(&mut self, name: String, value: Value) {
        self.0.insert(name, value);
    }

    /// Takes an attribute away.
    pub fn remove(&mut self, attr: Attr) {
        self.0.remove(attr);
    }

    /// The attribute, if the record has it.
    #[must_use]
    pub fn get(&self, attr: Attr) -> Option<&Value> {
        self.0.get(attr)
    }

    /// All attributes by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// A text attribute.
    ///
    /// # Errors
    /// When it is missing or not a text.
    pub fn text(&self, attr: Attr) -> Result<&str, Corrupt> {
        match self.get(attr) {
            Some(Value::Text(text)) => Ok(text),
            Some(Value::Integer(_) | Value::Flag(_)) | None => Err(Corrupt(attr)),
        }
    }

    /// A text attribute that may be absent.
    ///
    /// # Errors
    /// When it is there and not a text.
    pub fn optional_text(&self, attr: Attr) -> Result<Option<&str>, Corrupt> {
        self.get(attr).map(|_| self.text(attr)).transpose()
    }

    /// A number attribute.
    ///
    /// # Errors
    /// When it is missing or not a number.
    pub fn integer(&self, attr: Attr) -> Result<i64, Corrupt> {
        match self.get(attr) {
            Some(Value::Integer(number)) => Ok(*number),
            Some(Value::Text(_) | Value::Flag(_)) | None => Err(Corrupt(attr)),
        }
    }

    /// A moment.
    ///
    /// # Errors
    /// When it is missing or not a number.
    pub fn moment(&self, attr: Attr) -> Result<Timestamp, Corrupt> {
        self.integer(attr).map(Timestamp::from_seconds)
    }

    /// A moment that may be absent.
    ///
    /// # Errors
    /// When it is there and not a number.
    pub fn optional_moment(&self, attr: Attr) -> Result<Option<Timestamp>, Corrupt> {
        self.get(attr).map(|_| self.moment(attr)).transpose()
    }

    /// Whether the flag is there and set.
    #[must_use]
    pub fn flag(&self, attr: Attr) -> bool {
        matches!(self.get(attr), Some(Value::Flag(true)))
    }

    /// A text attribute read by a newtype's parser.
    ///
    /// # Errors
    /// When it is missing, not a text, or refused.
    pub fn parse<T, E>(&self, attr: Attr, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<T, Corrupt> {
        parse(self.text(attr)?).map_err(|_| Corrupt(attr))
    }

    /// A text attribute that may be absent, read by a newtype's parser.
    ///
    /// # Errors
    /// When it is there and not a text, or refused.
    pub fn parse_optional<T, E>(
        &self,
        attr: Attr,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Corrupt> {
        self.get(attr).map(|_| self.parse(attr, parse)).transpose()
    }
}
