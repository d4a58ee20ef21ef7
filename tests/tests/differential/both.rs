//! A map and the real ledger, given the same changes one after the other.

use std::collections::BTreeMap;

use aws_credential_types::Credentials;
use countersign::change::{Act, Change, Snapshot, Step};
use countersign::config::dynamodb;
use countersign::item::Item;
use countersign::key::Key;
use countersign::ledger::{Commit, Dynamo, Ledger as _, TableNames, create_tables};
use local::database::{Database, Storage};

/// A database of a test's own; its histories differ in their tenant.
pub(crate) struct Tables {
    _database: Database,
    ledger: Dynamo,
}

impl Tables {
    pub(crate) async fn new() -> Self {
        let database = Database::start(&Storage::Memory).unwrap();
        let credentials = Credentials::new("local", "local", None, None, "local");
        let client = dynamodb("us-east-1", credentials, Some(&database.endpoint()));
        let names = TableNames { ledger: "ledger".to_owned(), consents: "consents".to_owned() };
        create_tables(&client, &names).await.unwrap();
        Self { ledger: Dynamo::new(client, names), _database: database }
    }
}

/// One history.
pub(crate) struct Both<'a> {
    tables: &'a Tables,
    map: BTreeMap<Key, Item>,
    /// How many changes were made, and how many were not.
    pub(crate) done: usize,
    pub(crate) lost: usize,
}

impl<'a> Both<'a> {
    pub(crate) fn new(tables: &'a Tables) -> Self {
        Self { tables, map: BTreeMap::new(), done: 0, lost: 0 }
    }

    /// Writes a record on both sides.
    pub(crate) async fn put(&mut self, key: Key, item: Item) {
        self.commit(&Change(vec![Step::put(key, item)]), "a record to begin with").await;
    }

    /// Gives both the same change, and holds what became of it, and the records after it, against each other.
    pub(crate) async fn commit(&mut self, change: &Change, why: &str) {
        if let [Step { act: Act::Check, .. }] = change.0[..] {
            // A change that only looks is refused as a mistake, before the database is asked.
            assert!(self.tables.ledger.commit(change).await.is_err(), "{why}");
            return;
        }
        let meant = match change.apply(&mut self.map) {
            Ok(()) => Commit::Done,
            Err(images) => Commit::Lost(images),
        };
        let real = self.tables.ledger.commit(change).await;
        let real = real.unwrap_or_else(|failure| panic!("{why}: {failure:?}: {change:#?}"));
        assert_eq!(real, meant, "{why}: {change:#?}");
        match meant {
            Commit::Done => self.done += 1,
            Commit::Lost(_) => self.lost += 1,
            Commit::Contended => unreachable!("a map is never contended"),
        }
        let keys: Vec<Key> = change.0.iter().map(|step| step.key.clone()).collect();
        let mut expected = Snapshot::default();
        for key in &keys {
            expected.note(key.clone(), self.map.get(key).cloned());
        }
        assert_eq!(self.tables.ledger.load(&keys).await.unwrap(), expected, "{why}: after {change:#?}");
    }
}
