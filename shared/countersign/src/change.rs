//! Changes: a conditional transaction as data, and snapshots, what a decision was shown.
//!
//! The guards are a closed list and each is a comparison that DynamoDB can make. A decision returns a [`Change`]; the
//! ledger commits all of it or nothing.

mod model;

use std::collections::BTreeMap;

pub use model::Model;

use crate::clock::Timestamp;
use crate::item::{Attr, Item, Value};
use crate::key::Key;

/// What must hold of one record for the whole change to be committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// There is no record.
    Absent,
    /// There is a record.
    Present,
    /// The attribute has exactly this value.
    Is(Attr, Value),
    /// The record has no such attribute; true of an absent record too.
    Lacks(Attr),
    /// The attribute is a number, and at least this.
    AtLeast(Attr, i64),
    /// The attribute is a moment after this one.
    After(Attr, Timestamp),
}

/// One edit of an existing record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Sets the attribute.
    Set(Attr, Value),
    /// Adds to the number.
    Add(Attr, i64),
    /// Takes the attribute away.
    Remove(Attr),
}

/// What happens to one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// The record becomes this.
    Put(Item),
    /// The record is edited.
    Update(Vec<Edit>),
    /// Nothing; only the guards count.
    Check,
    /// The record is gone. Nothing in the product does this.
    #[cfg(feature = "seeded_bugs")]
    Delete,
}

/// One record's part in a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Which record.
    pub key: Key,
    /// What must hold of it; all of these.
    pub guards: Vec<Guard>,
    /// What happens to it.
    pub act: Act,
}

impl Step {
    /// Writes a record where there is none: a claim.
    #[must_use]
    pub fn create(key: Key, item: Item) -> Self {
        Self { key, guards: vec![Guard::Absent], act: Act::Put(item) }
    }

    /// Writes a record whatever was there before.
    #[must_use]
    pub const fn put(key: Key, item: Item) -> Self {
        Self { key, guards: Vec::new(), act: Act::Put(item) }
    }

    /// Edits a record, which must exist: DynamoDB's update would otherwise create it.
    #[must_use]
    pub fn update(key: Key) -> Self {
        Self { key, guards: vec![Guard::Present], act: Act::Update(Vec::new()) }
    }

    /// Only looks.
    #[must_use]
    pub const fn check(key: Key) -> Self {
        Self { key, guards: Vec::new(), act: Act::Check }
    }

    /// The step with one guard more.
    #[must_use]
    pub fn when(mut self, guard: Guard) -> Self {
        self.guards.push(guard);
        self
    }

    /// The step with a guard on an attribute's exact value.
    #[must_use]
    pub fn when_is(self, attr: Attr, value: impl Into<Value>) -> Self {
        self.when(Guard::Is(attr, value.into()))
    }

    /// The update with one attribute more that it sets.
    #[must_use]
    pub fn set(self, attr: Attr, value: impl Into<Value>) -> Self {
        self.edit(Edit::Set(attr, value.into()))
    }

    /// The update with one number more that it adds to.
    #[must_use]
    pub fn add(self, attr: Attr, number: i64) -> Self {
        self.edit(Edit::Add(attr, number))
    }

    /// The update with one attribute more that it takes away.
    #[must_use]
    pub fn remove(self, attr: Attr) -> Self {
        self.edit(Edit::Remove(attr))
    }

    /// Takes over the guards and edits of another update of the same record: a change holds one step a record.
    pub(crate) fn absorb(&mut self, other: Self) {
        for guard in other.guards {
            if !self.guards.contains(&guard) {
                self.guards.push(guard);
            }
        }
        if let (Act::Update(mine), Act::Update(theirs)) = (&mut self.act, other.act) {
            mine.extend(theirs);
        }
    }

    fn edit(mut self, edit: Edit) -> Self {
        if let Act::Update(edits) = &mut self.act {
            edits.push(edit);
        }
        self
    }
}

/// Steps that happen together or not at all, on different records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change(pub Vec<Step>);

/// What was seen of some records. A key without an entry was not loaded, which is not the same as absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot(BTreeMap<Key, Option<Item>>);

/// One record in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen<'a> {
    /// Nobody looked.
    NotLoaded,
    /// There was no record.
    Absent,
    /// There was this record.
    Present(&'a Item),
}

impl<'a> Seen<'a> {
    /// The record, where one was seen.
    #[must_use]
    pub const fn item(self) -> Option<&'a Item> {
        match self {
            Self::Present(item) => Some(item),
            Self::NotLoaded | Self::Absent => None,
        }
    }
}

impl Snapshot {
    /// What was seen under this key.
    #[must_use]
    pub fn see(&self, key: &Key) -> Seen<'_> {
        match self.0.get(key) {
            None => Seen::NotLoaded,
            Some(None) => Seen::Absent,
            Some(Some(item)) => Seen::Present(item),
        }
    }

    /// The record under this key, if one was seen.
    #[must_use]
    pub fn item(&self, key: &Key) -> Option<&Item> {
        self.see(key).item()
    }

    /// Those of the keys that nobody has looked at yet.
    #[must_use]
    pub fn missing<'k>(&self, keys: impl IntoIterator<Item = &'k Key>) -> Vec<Key> {
        keys.into_iter().filter(|key| !self.0.contains_key(*key)).cloned().collect()
    }

    /// Notes what was seen under a key.
    pub fn note(&mut self, key: Key, item: Option<Item>) {
        self.0.insert(key, item);
    }

    /// Takes over what a newer look saw.
    pub fn learn(&mut self, newer: Self) {
        self.0.extend(newer.0);
    }

    /// Every key that was looked at.
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        self.0.keys().cloned().collect()
    }
}
