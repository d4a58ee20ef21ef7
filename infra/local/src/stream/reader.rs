//! Reads a table's stream page by page, remembering where it was.

use dynoxide::Database as Engine;
use dynoxide::actions::describe_stream::DescribeStreamRequest;
use dynoxide::actions::get_records::{GetRecordsRequest, Record};
use dynoxide::actions::get_shard_iterator::GetShardIteratorRequest;
use dynoxide::actions::list_streams::ListStreamsRequest;
use serde_json::{Value, json};

use crate::lambda::REGION;

/// The most records of one read.
const PAGE: usize = 500;

/// One record, already in the shape that a function gets.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) sequence: String,
    pub(super) json: String,
}

/// What one read brought.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// How many records there were, before the filter.
    pub(super) records: usize,
    /// Those that passed it.
    pub(super) entries: Vec<Entry>,
}

/// A position in a stream.
pub(super) struct Reader {
    engine: Engine,
    table: String,
    key_prefix: String,
    position: Option<Position>,
    complained: bool,
}

struct Position {
    stream_arn: String,
    iterator: String,
}

impl Reader {
    pub(super) fn new(engine: Engine, table: String, key_prefix: String) -> Self {
        Self { engine, table, key_prefix, position: None, complained: false }
    }

    /// The next page, empty when there is nothing new or when the stream cannot be read now. The engine blocks, so this
    /// runs on a thread for that.
    pub(super) async fn read(mut self) -> (Self, Page) {
        let spare = Self::new(self.engine.clone(), self.table.clone(), self.key_prefix.clone());
        let reading = tokio::task::spawn_blocking(move || {
            let page = self.page();
            (self, page)
        });
        match reading.await {
            Ok(read) => read,
            Err(error) => {
                // The position is lost with the thread; the spare begins anew, which repeats records and loses none.
                tracing::error!(%error, table = spare.table, "a read of the stream failed; it begins anew");
                (spare, Page::default())
            }
        }
    }

    fn page(&mut self) -> Page {
        match self.try_page() {
            Ok(page) => {
                self.complained = false;
                page
            }
            Err(error) => {
                if !self.complained {
                    tracing::warn!(%error, table = self.table, "the stream cannot be read; it will be tried again");
                }
                self.complained = true;
                Page::default()
            }
        }
    }

    fn try_page(&mut self) -> dynoxide::Result<Page> {
        if self.position.is_none() {
            self.position = self.oldest()?;
        }
        let Some(position) = &mut self.position else { return Ok(Page::default()) };
        let request = GetRecordsRequest { shard_iterator: position.iterator.clone(), limit: Some(PAGE) };
        let response = self.engine.get_records(request)?;
        if let Some(next) = response.next_shard_iterator {
            position.iterator = next;
        }
        let stream_arn = position.stream_arn.clone();
        let wanted = response.records.iter().filter(|record| self.wants(record));
        let entries = wanted.filter_map(|record| entry(record, &stream_arn)).collect();
        Ok(Page { records: response.records.len(), entries })
    }

    /// The beginning of the table's only shard; `None` while the table has no stream.
    fn oldest(&self) -> dynoxide::Result<Option<Position>> {
        let request = ListStreamsRequest { table_name: Some(self.table.clone()), ..Default::default() };
        let Some(stream) = self.engine.list_streams(request)?.streams.into_iter().next() else { return Ok(None) };
        let stream_arn = stream.stream_arn;
        let request = DescribeStreamRequest { stream_arn: stream_arn.clone(), ..Default::default() };
        let description = self.engine.describe_stream(request)?.stream_description;
        let Some(shard) = description.shards.into_iter().next() else { return Ok(None) };
        let request = GetShardIteratorRequest {
            stream_arn: stream_arn.clone(),
            shard_id: shard.shard_id,
            shard_iterator_type: "TRIM_HORIZON".to_owned(),
            sequence_number: None,
        };
        let iterator = self.engine.get_shard_iterator(request)?.shard_iterator;
        Ok(iterator.map(|iterator| Position { stream_arn, iterator }))
    }

    fn wants(&self, record: &Record) -> bool {
        let key = record.dynamodb.keys.get("pk");
        self.key_prefix.is_empty()
            || matches!(key, Some(dynoxide::AttributeValue::S(key)) if key.starts_with(&self.key_prefix))
    }
}

/// A record as Lambda passes it on: the stream's own form, and where it came from.
/// <https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html>
fn entry(record: &Record, stream_arn: &str) -> Option<Entry> {
    let sequence = record.dynamodb.sequence_number.clone();
    match serde_json::to_value(record) {
        Ok(Value::Object(mut fields)) => {
            fields.insert("awsRegion".to_owned(), json!(REGION));
            fields.insert("eventSourceARN".to_owned(), json!(stream_arn));
            Some(Entry { sequence, json: Value::Object(fields).to_string() })
        }
        Ok(_) | Err(_) => {
            tracing::error!(sequence, "a record of the stream has no JSON form and was skipped");
            None
        }
    }
}
