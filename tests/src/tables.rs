//! The tables behind every tool: what is in them, and what an administrator, an intruder or a fault could put there.

use std::collections::BTreeMap;

use countersign::caller::Caller;
use countersign::change::{Change, Step};
use countersign::item::Item;
use countersign::key::{Key, Table};
use countersign::ledger::Ledger as _;
use serde_json::{Value, json};

use crate::App;
use crate::app::code;

const TABLES: [&str; 2] = ["ledger", "consents"];

impl App {
    /// The record under a key.
    pub async fn item(&self, key: &Key) -> Option<Item> {
        self.gateway.ledger().load(std::slice::from_ref(key)).await.unwrap().item(key).cloned()
    }

    /// Writes a record, whatever was there before.
    pub async fn put(&self, key: &Key, item: Item) {
        self.commit(Change(vec![Step::put(key.clone(), item)])).await;
    }

    /// Takes a record away, as nothing in the product does.
    pub async fn delete(&self, key: &Key) {
        let table = match key.table() {
            Table::Ledger => TABLES[0],
            Table::Consents => TABLES[1],
        };
        let request = json!({ "TableName": table, "Key": { "pk": { "S": key.pk() } } });
        self.database("DeleteItem", &request).await;
        assert_eq!(self.item(key).await, None);
    }

    /// Every record of both tables in which one of these names occurs, by its key.
    pub async fn records_about(&self, names: &[&str]) -> BTreeMap<String, Value> {
        let mut found = BTreeMap::new();
        for table in TABLES {
            let mut request = json!({ "TableName": table, "ConsistentRead": true });
            loop {
                let page = self.database("Scan", &request).await;
                for record in page["Items"].as_array().unwrap() {
                    if names.iter().any(|name| mentions(&record.to_string(), name)) {
                        found.insert(record["pk"]["S"].as_str().unwrap().to_owned(), record.clone());
                    }
                }
                match page.get("LastEvaluatedKey") {
                    Some(last) if !last.is_null() => request["ExclusiveStartKey"] = last.clone(),
                    _ => break,
                }
            }
        }
        found
    }

    /// Makes a call that is to be refused, and gives the refusal. See [`App::untouched`].
    pub async fn refused(&self, by: &Caller, tool: &str, arguments: Value, about: &[&str]) -> Value {
        let answers = async { vec![self.direct_as(by.clone()).call(tool, arguments).await] };
        self.untouched(about, answers).await.remove(0)
    }

    /// Gives the refusals that some calls come to. They must not have touched a record about one of these names
    /// (orders, proposals, operations), nor have sent the provider anything for one of them.
    pub async fn untouched(&self, about: &[&str], calls: impl Future<Output = Vec<Value>>) -> Vec<Value> {
        let before = (self.records_about(about).await, self.sent(about));
        let answers = calls.await;
        assert!(answers.iter().all(|answer| code(answer) != "ok"), "{answers:?}");
        assert_eq!((self.records_about(about).await, self.sent(about)), before, "{answers:?}");
        answers.iter().map(|answer| answer["error"].clone()).collect()
    }

    /// How many requests the provider has seen for one of these proposals.
    pub fn sent(&self, proposals: &[&str]) -> usize {
        let requests = self.gateway.provider().requests();
        let keys = requests.iter().filter_map(|request| request.idempotency_key.as_deref());
        keys.filter(|key| proposals.contains(key)).count()
    }

    /// One request to the database, past the ledger: the local engine takes any signature.
    pub async fn database(&self, operation: &str, request: &Value) -> Value {
        const SIGNATURE: &str = "AWS4-HMAC-SHA256 Credential=local/20300101/us-east-1/dynamodb/aws4_request, \
            SignedHeaders=host, Signature=00";
        let response = reqwest::Client::new()
            .post(self.gateway.database_url())
            .header("x-amz-target", format!("DynamoDB_20120810.{operation}"))
            .header("content-type", "application/x-amz-json-1.0")
            .header("authorization", SIGNATURE)
            .header("x-amz-date", "20300101T000000Z")
            .body(request.to_string())
            .send()
            .await
            .unwrap();
        let (status, body) = (response.status(), response.text().await.unwrap());
        assert!(status.is_success(), "{operation}: {status} {body}");
        serde_json::from_str(&body).unwrap()
    }
}

/// Whether the name occurs and does not go on: `ord_T1` is not in `ord_T17`.
fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let next = text[at + name.len()..].chars().next();
        !next.is_some_and(|next| next.is_ascii_alphanumeric())
    })
}
