//! The naive model of the tables: a map to which changes apply at once. It tells what a change means.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::{Act, Change, Edit, Guard, Seen, Snapshot, Step};
use crate::failure::Failure;
use crate::item::{Item, Value};
use crate::key::Key;
use crate::ledger::{Commit, Ledger};

/// Both tables in one map. Decisions can be run against it by the million.
#[derive(Debug, Default)]
pub struct Model(Mutex<BTreeMap<Key, Item>>);

impl Model {
    /// Tables with nothing in them.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies the change, or gives the images of the steps whose guards did not hold.
    pub fn apply(&self, change: &Change) -> Commit {
        let mut items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match change.apply(&mut items) {
            Ok(()) => Commit::Done,
            Err(lost) => Commit::Lost(lost),
        }
    }

    /// The record under this key.
    #[must_use]
    pub fn item(&self, key: &Key) -> Option<Item> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }
}

impl Change {
    /// Applies all of it to these records, or nothing.
    ///
    /// # Errors
    /// When guards do not hold: the images of the steps that they stand in.
    pub fn apply(&self, items: &mut BTreeMap<Key, Item>) -> Result<(), Snapshot> {
        let mut lost = Snapshot::default();
        for step in &self.0 {
            if !step.holds(items.get(&step.key)) {
                lost.note(step.key.clone(), items.get(&step.key).cloned());
            }
        }
        if lost != Snapshot::default() {
            return Err(lost);
        }
        for step in &self.0 {
            step.apply(items);
        }
        Ok(())
    }
}

impl Step {
    /// Whether every guard holds of the record.
    #[must_use]
    pub fn holds(&self, item: Option<&Item>) -> bool {
        self.guards.iter().all(|guard| guard.holds(item))
    }

    fn apply(&self, items: &mut BTreeMap<Key, Item>) {
        match &self.act {
            Act::Put(item) => _ = items.insert(self.key.clone(), item.clone()),
            Act::Check => {}
            #[cfg(feature = "seeded_bugs")]
            Act::Delete => _ = items.remove(&self.key),
            Act::Update(edits) => {
                let item = items.entry(self.key.clone()).or_default();
                for edit in edits {
                    edit.apply(item);
                }
            }
        }
    }
}

impl Guard {
    fn holds(&self, item: Option<&Item>) -> bool {
        let seen = item.map_or(Seen::Absent, Seen::Present).item();
        let integer = |attr| seen.and_then(|item| item.integer(attr).ok());
        match self {
            Self::Absent => seen.is_none(),
            Self::Present => seen.is_some(),
            Self::Is(attr, value) => seen.and_then(|item| item.get(attr)) == Some(value),
            Self::Lacks(attr) => seen.and_then(|item| item.get(attr)).is_none(),
            Self::AtLeast(attr, least) => integer(attr).is_some_and(|number| number >= *least),
            Self::After(attr, moment) => integer(attr).is_some_and(|number| number > moment.seconds()),
        }
    }
}

impl Edit {
    fn apply(&self, item: &mut Item) {
        match self {
            Self::Set(attr, value) => item.insert((*attr).to_owned(), value.clone()),
            Self::Add(attr, number) => {
                let sum = item.integer(attr).unwrap_or(0).saturating_add(*number);
                item.insert((*attr).to_owned(), Value::Integer(sum));
            }
            Self::Remove(attr) => item.remove(attr),
        }
    }
}

impl Ledger for Model {
    async fn load(&self, keys: &[Key]) -> Result<Snapshot, Failure> {
        let mut seen = Snapshot::default();
        for key in keys {
            seen.note(key.clone(), self.item(key));
        }
        Ok(seen)
    }

    async fn commit(&self, change: &Change) -> Result<Commit, Failure> {
        Ok(self.apply(change))
    }
}
