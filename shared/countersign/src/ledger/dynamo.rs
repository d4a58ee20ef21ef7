//! The DynamoDB adapter: one request a load, one a commit, always with the images of what was in the way.

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, CancellationReason, KeysAndAttributes, Put, Update};

use super::cancellation::{Verdict, verdict};
use super::expression::from_attributes;
use super::write::{ALL_OLD, primary_key, write};
use super::{ATTENTION_INDEX, Commit, DUE_INDEX, Ledger, PENDING_INDEX, SUBJECT_INDEX, TableNames};
use crate::change::{Change, Snapshot, Step};
use crate::clock::Timestamp;
use crate::command::jitter;
use crate::deadline::Deadline;
use crate::failure::Failure;
use crate::item::Item;
use crate::key::{Key, Table};

type Attributes = HashMap<String, AttributeValue>;

/// How long one request may take with its retries, if the call's own deadline allows.
const REQUEST: Duration = Duration::from_secs(3);
/// With less than this left, a request is not begun: its answer might not be heard.
const LEAST: Duration = Duration::from_millis(250);

/// How many due operations a page names.
const DUE_PAGE: i32 = 100;

/// Where in a list to go on; the beginning unless a page said so.
#[derive(Debug, Clone, Default)]
pub struct Page(Option<Attributes>);

/// The ledger in DynamoDB.
#[derive(Debug, Clone)]
pub struct Dynamo {
    client: Client,
    tables: TableNames,
    deadline: Option<Deadline>,
}

impl Dynamo {
    /// A ledger over one client, built once a process.
    #[must_use]
    pub const fn new(client: Client, tables: TableNames) -> Self {
        Self { client, tables, deadline: None }
    }

    /// The same ledger for one call: no request of it begins too late or outlives the call.
    #[must_use]
    pub fn until(&self, deadline: Deadline) -> Self {
        Self { deadline: Some(deadline), ..self.clone() }
    }

    /// Opens the connection before the first call needs it, with a read of a record that does not exist. Where that
    /// fails the first call finds out, and can say so.
    pub async fn warm(&self) {
        let key = primary_key("warm#");
        let request = self.client.get_item().table_name(&self.tables.ledger).set_key(Some(key));
        if let Err(error) = request.send().await {
            tracing::warn!(error = error.to_string(), "the ledger did not answer yet");
        }
    }

    /// The newest records about `subject`, at most `limit`, for display alone: an index lags behind its table, so
    /// nothing may be decided on what it says.
    ///
    /// # Errors
    /// When the database does not answer in time.
    pub async fn recent(&self, subject: &Key, limit: u16) -> Result<Vec<Item>, Failure> {
        let found = self
            .client
            .query()
            .table_name(&self.tables.ledger)
            .index_name(SUBJECT_INDEX)
            .key_condition_expression("subject = :subject")
            .expression_attribute_values(":subject", AttributeValue::S(subject.pk().to_owned()))
            .scan_index_forward(false)
            .limit(limit.into())
            .customize()
            .config_override(self.timeouts()?)
            .send()
            .await
            .map_err(unavailable)?;
        found.items().iter().map(read).collect()
    }

    /// A page of the partition keys of operations in a [`crate::operation::due_shards`] partition that a worker should
    /// have looked at by `now`, oldest first. Each is a hint to load the operation, no more.
    ///
    /// # Errors
    /// When the database does not answer in time.
    pub async fn due(&self, shard: &str, now: Timestamp, page: Page) -> Result<(Vec<String>, Option<Page>), Failure> {
        let found = self
            .client
            .query()
            .table_name(&self.tables.ledger)
            .index_name(DUE_INDEX)
            .key_condition_expression("due_shard = :shard AND due_at <= :now")
            .expression_attribute_values(":shard", AttributeValue::S(shard.to_owned()))
            .expression_attribute_values(":now", AttributeValue::N(now.seconds().to_string()))
            .set_exclusive_start_key(page.0)
            .limit(DUE_PAGE)
            .customize()
            .config_override(self.timeouts()?)
            .send()
            .await
            .map_err(unavailable)?;
        let pk = |item: &Attributes| item.get("pk")?.as_s().ok().cloned();
        let due = found.items().iter().filter_map(pk).collect();
        Ok((due, found.last_evaluated_key.map(|key| Page(Some(key)))))
    }

    /// Intents of a [`crate::intent::pending`] partition that lapse after `now`, soonest first, at most `limit`: those
    /// after `after`, by when it lapses and its key. For display alone, as [`Dynamo::recent`] is.
    ///
    /// # Errors
    /// When the database does not answer in time.
    pub async fn pending(
        &self,
        partition: &str,
        now: Timestamp,
        after: Option<(Timestamp, &Key)>,
        limit: u16,
    ) -> Result<Vec<Item>, Failure> {
        // The database refuses to begin outside of what is asked for.
        let after = after.filter(|(lapses, _)| *lapses > now).map(|(lapses, key)| {
            let mut start = primary_key(key.pk());
            start.insert("pending".to_owned(), AttributeValue::S(partition.to_owned()));
            start.insert("expires_at".to_owned(), AttributeValue::N(lapses.seconds().to_string()));
            start
        });
        let found = self
            .client
            .query()
            .table_name(&self.tables.ledger)
            .index_name(PENDING_INDEX)
            .key_condition_expression("pending = :pending AND expires_at > :now")
            .expression_attribute_values(":pending", AttributeValue::S(partition.to_owned()))
            .expression_attribute_values(":now", AttributeValue::N(now.seconds().to_string()))
            .set_exclusive_start_key(after)
            .limit(limit.into())
            .customize()
            .config_override(self.timeouts()?)
            .send()
            .await
            .map_err(unavailable)?;
        found.items().iter().map(read).collect()
    }

    /// The partition keys of operations in an [`crate::operation::attention`] partition, longest waiting first, at most
    /// `limit`, and since when each waits, as far as that can be read: those after `after`, by since when it waits and its
    /// key. For display alone, as [`Dynamo::recent`] is.
    ///
    /// # Errors
    /// When the database does not answer in time.
    pub async fn waiting(
        &self,
        partition: &str,
        after: Option<(Timestamp, &Key)>,
        limit: u16,
    ) -> Result<Vec<(String, Option<Timestamp>)>, Failure> {
        let after = after.map(|(since, key)| {
            let mut start = primary_key(key.pk());
            start.insert("attention".to_owned(), AttributeValue::S(partition.to_owned()));
            start.insert("attention_at".to_owned(), AttributeValue::N(since.seconds().to_string()));
            start
        });
        let found = self
            .client
            .query()
            .table_name(&self.tables.ledger)
            .index_name(ATTENTION_INDEX)
            .key_condition_expression("attention = :attention")
            .expression_attribute_values(":attention", AttributeValue::S(partition.to_owned()))
            .set_exclusive_start_key(after)
            .limit(limit.into())
            .customize()
            .config_override(self.timeouts()?)
            .send()
            .await
            .map_err(unavailable)?;
        let row = |item: &Attributes| {
            let since = item.get("attention_at").and_then(|since| since.as_n().ok()?.parse().ok());
            Some((item.get("pk")?.as_s().ok()?.clone(), since.map(Timestamp::from_seconds)))
        };
        Ok(found.items().iter().filter_map(row).collect())
    }

    fn timeouts(&self) -> Result<aws_sdk_dynamodb::config::Builder, Failure> {
        // The call needs a little of what is left for its answer.
        let left = self.deadline.map_or(REQUEST, |deadline| deadline.left().saturating_sub(LEAST).min(REQUEST));
        if left < LEAST {
            return Err(Failure::deadline_too_close());
        }
        let timeouts = TimeoutConfig::builder().operation_timeout(left).build();
        Ok(aws_sdk_dynamodb::config::Config::builder().timeout_config(timeouts))
    }

    async fn get(&self, key: &Key) -> Result<Snapshot, Failure> {
        let found = self
            .client
            .get_item()
            .table_name(self.tables.of(key.table()))
            .set_key(Some(primary_key(key.pk())))
            .consistent_read(true)
            .customize()
            .config_override(self.timeouts()?)
            .send()
            .await
            .map_err(unavailable)?;
        let mut seen = Snapshot::default();
        seen.note(key.clone(), found.item().map(read).transpose()?);
        Ok(seen)
    }

    async fn batch_get(&self, keys: &[Key]) -> Result<Snapshot, Failure> {
        let mut seen = Snapshot::default();
        keys.iter().for_each(|key| seen.note(key.clone(), None));
        let mut wanted = self.wanted(keys)?;
        for round in 0.. {
            let found = self
                .client
                .batch_get_item()
                .set_request_items(Some(wanted))
                .customize()
                .config_override(self.timeouts()?)
                .send()
                .await
                .map_err(unavailable)?;
            for (table, items) in found.responses.unwrap_or_default() {
                for attributes in &items {
                    self.note(&mut seen, keys, &table, attributes)?;
                }
            }
            wanted = found.unprocessed_keys.unwrap_or_default();
            if wanted.is_empty() {
                break;
            }
            jitter(round).await;
        }
        Ok(seen)
    }

    fn wanted(&self, keys: &[Key]) -> Result<HashMap<String, KeysAndAttributes>, Failure> {
        let mut wanted = HashMap::new();
        for table in [Table::Ledger, Table::Consents] {
            let of_table: Vec<Attributes> =
                keys.iter().filter(|key| key.table() == table).map(|key| primary_key(key.pk())).collect();
            if !of_table.is_empty() {
                let request = KeysAndAttributes::builder().set_keys(Some(of_table)).consistent_read(true).build();
                wanted.insert(self.tables.of(table).to_owned(), request.map_err(Failure::internal)?);
            }
        }
        Ok(wanted)
    }

    fn note(&self, seen: &mut Snapshot, keys: &[Key], table: &str, attributes: &Attributes) -> Result<(), Failure> {
        let pk = attributes.get("pk").and_then(|pk| pk.as_s().ok());
        let ours = |key: &&Key| self.tables.of(key.table()) == table && Some(key.pk()) == pk.map(String::as_str);
        if let Some(key) = keys.iter().find(ours) {
            seen.note(key.clone(), Some(read(attributes)?));
        }
        Ok(())
    }

    /// One step: a plain conditional write costs half the write units of a transaction.
    async fn commit_one(&self, step: &Step) -> Result<Commit, Failure> {
        let written = write(&self.tables, step)?;
        let refused = match (written.put, written.update) {
            (Some(put), _) => self.put_item(put).await?,
            (None, Some(update)) => self.update_item(update).await?,
            (None, None) => return Err(Failure::internal("a change of one check has no effect")),
        };
        match refused {
            None => Ok(Commit::Done),
            Some(Refused::Contended) => Ok(Commit::Contended),
            Some(Refused::Lost(image)) => {
                let mut images = Snapshot::default();
                images.note(step.key.clone(), image.as_ref().map(read).transpose()?);
                Ok(Commit::Lost(images))
            }
        }
    }

    async fn put_item(&self, put: Put) -> Result<Option<Refused>, Failure> {
        let request = self
            .client
            .put_item()
            .table_name(put.table_name)
            .set_item(Some(put.item))
            .set_condition_expression(put.condition_expression)
            .set_expression_attribute_names(put.expression_attribute_names)
            .set_expression_attribute_values(put.expression_attribute_values)
            .return_values_on_condition_check_failure(ALL_OLD);
        let Err(error) = request.customize().config_override(self.timeouts()?).send().await else { return Ok(None) };
        match error.as_service_error() {
            Some(PutItemError::ConditionalCheckFailedException(failed)) => {
                Ok(Some(Refused::Lost(failed.item().cloned())))
            }
            Some(PutItemError::TransactionConflictException(_)) => Ok(Some(Refused::Contended)),
            Some(_) | None => Err(unavailable(error)),
        }
    }

    async fn update_item(&self, update: Update) -> Result<Option<Refused>, Failure> {
        let request = self
            .client
            .update_item()
            .table_name(update.table_name)
            .set_key(Some(update.key))
            .update_expression(update.update_expression)
            .set_condition_expression(update.condition_expression)
            .set_expression_attribute_names(update.expression_attribute_names)
            .set_expression_attribute_values(update.expression_attribute_values)
            .return_values_on_condition_check_failure(ALL_OLD);
        let Err(error) = request.customize().config_override(self.timeouts()?).send().await else { return Ok(None) };
        match error.as_service_error() {
            Some(UpdateItemError::ConditionalCheckFailedException(failed)) => {
                Ok(Some(Refused::Lost(failed.item().cloned())))
            }
            Some(UpdateItemError::TransactionConflictException(_)) => Ok(Some(Refused::Contended)),
            Some(_) | None => Err(unavailable(error)),
        }
    }

    /// Several steps: one transaction. The SDK makes a fresh client request token for every call.
    async fn commit_all(&self, change: &Change) -> Result<Commit, Failure> {
        let steps = change.0.iter().map(|step| write(&self.tables, step)).collect::<Result<Vec<_>, _>>()?;
        let request = self.client.transact_write_items().set_transact_items(Some(steps));
        let error = match request.customize().config_override(self.timeouts()?).send().await {
            Ok(_) => return Ok(Commit::Done),
            Err(error) => error,
        };
        match error.as_service_error() {
            Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => {
                lost(change, canceled.cancellation_reasons())
            }
            Some(TransactWriteItemsError::TransactionInProgressException(_)) => Ok(Commit::Contended),
            Some(_) | None => Err(unavailable(error)),
        }
    }
}

impl Ledger for Dynamo {
    async fn load(&self, keys: &[Key]) -> Result<Snapshot, Failure> {
        match keys {
            [] => Ok(Snapshot::default()),
            [key] => self.get(key).await,
            keys => self.batch_get(keys).await,
        }
    }

    async fn commit(&self, change: &Change) -> Result<Commit, Failure> {
        match change.0.as_slice() {
            [] => Ok(Commit::Done),
            [step] => self.commit_one(step).await,
            _ => self.commit_all(change).await,
        }
    }
}

/// Why a single conditional write did not happen.
enum Refused {
    /// A guard did not hold of this record.
    Lost(Option<Attributes>),
    /// A transaction had the record.
    Contended,
}

/// The images of the steps whose guards did not hold.
fn lost(change: &Change, reasons: &[CancellationReason]) -> Result<Commit, Failure> {
    let positions = match verdict(reasons.iter().map(CancellationReason::code)) {
        Verdict::Lost(positions) => positions,
        Verdict::Contended => return Ok(Commit::Contended),
        Verdict::Fault(code) => return Err(Failure::internal(format!("transaction canceled: {code}"))),
    };
    let mut images = Snapshot::default();
    for position in positions {
        if let (Some(step), Some(reason)) = (change.0.get(position), reasons.get(position)) {
            // An absent record has no image, or an empty one.
            let image = reason.item().filter(|image| !image.is_empty());
            images.note(step.key.clone(), image.map(read).transpose()?);
        }
    }
    Ok(Commit::Lost(images))
}

fn read(attributes: &Attributes) -> Result<Item, Failure> {
    from_attributes(attributes).ok_or_else(|| Failure::internal("a stored attribute has a type that is never written"))
}

fn unavailable(error: impl Error + Send + Sync + 'static) -> Failure {
    Failure::temporarily_unavailable(error)
}
