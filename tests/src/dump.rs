//! Dumps of both tables, through the SDK, so that a test can see whether anything changed.

use std::collections::BTreeMap;

use aws_credential_types::Credentials;
use countersign::config::dynamodb;
use local::lambda::REGION;

use crate::App;

/// Every item of both tables, by table and key, with its attributes in order of their names.
pub type Dump = BTreeMap<(&'static str, String), BTreeMap<String, String>>;

impl App {
    /// Everything that both tables hold.
    pub async fn dump(&self) -> Dump {
        let credentials = Credentials::new("local", "local", None, None, "tests");
        let client = dynamodb(REGION, credentials, Some(&self.gateway.database_url()));
        let mut dump = Dump::new();
        for table in ["ledger", "consents"] {
            let items = client.scan().table_name(table).consistent_read(true).into_paginator().items().send();
            for item in items.try_collect().await.unwrap() {
                let key = item["pk"].as_s().unwrap().clone();
                let attributes = item.into_iter().map(|(name, value)| (name, format!("{value:?}")));
                dump.insert((table, key), attributes.collect());
            }
        }
        dump
    }
}

/// The keys of what is new or different in the second dump.
pub fn changed(before: &Dump, after: &Dump) -> Vec<String> {
    let gone = before.keys().filter(|key| !after.contains_key(key));
    let other = after.iter().filter(|(key, item)| before.get(key) != Some(item)).map(|(key, _)| key);
    gone.chain(other).map(|(_, key)| key.clone()).collect()
}
