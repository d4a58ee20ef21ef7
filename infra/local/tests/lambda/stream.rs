//! The stream poller over the embedded database: order, shape, filters, retries, parking.

use std::sync::Mutex;
use std::time::Duration;

use aws_lambda_events::dynamodb::{Event, EventRecord};
use bytes::Bytes;
use dynoxide::Database as Engine;
use local::lambda::Invoked;
use local::stream::{Settings, StreamPoller};
use serde_json::json;
use tokio::sync::mpsc;

fn ledger() -> Engine {
    let engine = Engine::memory().unwrap();
    let table = json!({
        "TableName": "ledger",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
        "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    });
    engine.create_table(serde_json::from_value(table).unwrap()).unwrap();
    engine
}

fn put(engine: &Engine, keys: impl IntoIterator<Item = impl AsRef<str>>) {
    for key in keys {
        let item = json!({"TableName": "ledger", "Item": {"pk": {"S": key.as_ref()}, "n": {"N": "7"}}});
        engine.put_item(serde_json::from_value(item).unwrap()).unwrap();
    }
}

fn numbered(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|number| format!("operation#{number:02}")).collect()
}

fn settings() -> Settings {
    let (retry_after, retry_ceiling) = (Duration::from_millis(1), Duration::from_millis(2));
    Settings { retry_after, retry_ceiling, max_attempts: 5, ..Settings::new("ledger") }
}

fn key(record: &EventRecord) -> String {
    serde_json::to_value(&record.change.keys).unwrap()["pk"]["S"].as_str().unwrap().to_owned()
}

fn keys(records: &[EventRecord]) -> Vec<String> {
    records.iter().map(key).collect()
}

/// Carries the stream to `function`; what the function is called with arrives at the receiver.
fn carry<F>(engine: &Engine, settings: Settings, function: F) -> (StreamPoller, mpsc::UnboundedReceiver<Event>)
where
    F: FnMut(&Event) -> Invoked + Send + 'static,
{
    let (calls, received) = mpsc::unbounded_channel();
    let function = Mutex::new(function);
    let poller = StreamPoller::start(engine.clone(), settings, move |event| {
        let event: Event = serde_json::from_slice(&event).unwrap();
        let invoked = (function.lock().unwrap())(&event);
        calls.send(event).unwrap();
        async { invoked }
    });
    (poller, received)
}

fn done() -> Invoked {
    Invoked::Answered(Bytes::from_static(b"null"))
}

fn failed_from(record: &EventRecord) -> Invoked {
    let answer = json!({"batchItemFailures": [{"itemIdentifier": record.change.sequence_number}]});
    Invoked::Answered(answer.to_string().into())
}

fn crashed() -> Invoked {
    Invoked::FunctionError { kind: "Runtime.ExitError".to_owned(), message: "gone".to_owned() }
}

#[tokio::test]
async fn records_arrive_in_order_from_the_oldest_in_batches_of_ten() {
    let engine = ledger();
    put(&engine, numbered(0..25));
    let (poller, mut calls) = carry(&engine, settings(), |_| done());
    let mut seen = Vec::new();
    for size in [10, 10, 5] {
        let call = calls.recv().await.unwrap();
        assert_eq!(call.records.len(), size);
        seen.extend(keys(&call.records));
    }
    put(&engine, numbered(25..26));
    seen.extend(keys(&calls.recv().await.unwrap().records));
    assert_eq!(seen, numbered(0..26));
    poller.stop().await;
}

#[tokio::test]
async fn an_event_has_the_shape_that_lambda_sends() {
    let engine = ledger();
    put(&engine, ["order#1", "order#1"]);
    let (_poller, mut calls) = carry(&engine, settings(), |_| done());
    let event = calls.recv().await.unwrap();
    let [inserted, modified] = event.records.as_slice() else { panic!("{event:?}") };
    assert_eq!((inserted.event_name.as_str(), modified.event_name.as_str()), ("INSERT", "MODIFY"));
    assert_eq!(inserted.event_source.as_deref(), Some("aws:dynamodb"));
    assert_eq!(inserted.aws_region, "us-east-1");
    assert!(inserted.event_source_arn.as_deref().unwrap().contains(":table/ledger/stream/"));
    assert!(inserted.change.old_image.is_empty() && !modified.change.old_image.is_empty());
    assert_eq!(serde_json::to_value(&modified.change.new_image).unwrap()["n"]["N"], "7");
    assert!(inserted.change.approximate_creation_date_time.timestamp() > 1_700_000_000);
    assert_ne!(inserted.event_id, modified.event_id);
}

#[tokio::test]
async fn a_retry_begins_with_the_failed_record() {
    let engine = ledger();
    put(&engine, numbered(0..12));
    let mut failures = 2;
    let (_poller, mut calls) = carry(&engine, settings(), move |event| {
        match event.records.iter().find(|record| key(record) == "operation#04") {
            Some(record) if failures > 0 => {
                failures -= 1;
                failed_from(record)
            }
            _ => done(),
        }
    });
    assert_eq!(keys(&calls.recv().await.unwrap().records), numbered(0..10));
    assert_eq!(keys(&calls.recv().await.unwrap().records), numbered(4..12));
    assert_eq!(keys(&calls.recv().await.unwrap().records), numbered(4..12));
    put(&engine, ["operation#99"]);
    assert_eq!(keys(&calls.recv().await.unwrap().records), ["operation#99"]);
}

#[tokio::test]
async fn a_call_that_fails_as_a_whole_is_repeated_from_its_first_record() {
    let engine = ledger();
    put(&engine, numbered(0..10));
    let mut first = true;
    let (_poller, mut calls) =
        carry(&engine, settings(), move |_| if std::mem::take(&mut first) { crashed() } else { done() });
    assert_eq!(keys(&calls.recv().await.unwrap().records), numbered(0..10));
    let mut seen = Vec::new();
    while seen.len() < 10 {
        seen.extend(keys(&calls.recv().await.unwrap().records));
    }
    assert_eq!(seen, numbered(0..10));
}

#[tokio::test]
async fn a_record_that_keeps_failing_is_parked_and_the_others_pass() {
    let engine = ledger();
    put(&engine, numbered(0..10));
    let poison = |event: &Event| event.records.iter().any(|record| key(record) == "operation#03");
    let (_poller, mut calls) = carry(&engine, settings(), move |event| if poison(event) { crashed() } else { done() });
    let (mut passed, mut alone) = (Vec::new(), 0);
    while passed.len() < 9 {
        let call = calls.recv().await.unwrap();
        if poison(&call) {
            alone += usize::from(call.records.len() == 1);
        } else {
            passed.extend(keys(&call.records));
        }
    }
    assert_eq!(passed, [numbered(0..3), numbered(4..10)].concat());
    assert!(alone > 0);
}

#[tokio::test]
async fn records_of_other_keys_cause_no_call() {
    let engine = ledger();
    put(&engine, ["order#1", "operation#1", "twin#1", "operation#2"]);
    let only = Settings { key_prefix: "operation#".to_owned(), ..settings() };
    let (_poller, mut calls) = carry(&engine, only, |_| done());
    assert_eq!(keys(&calls.recv().await.unwrap().records), ["operation#1", "operation#2"]);
    put(&engine, ["order#2", "operation#3"]);
    assert_eq!(keys(&calls.recv().await.unwrap().records), ["operation#3"]);
}

#[tokio::test]
async fn a_second_start_carries_everything_again() {
    let engine = ledger();
    put(&engine, numbered(0..3));
    for _start in 0..2 {
        let (poller, mut calls) = carry(&engine, settings(), |_| done());
        assert_eq!(keys(&calls.recv().await.unwrap().records), numbered(0..3));
        poller.stop().await;
    }
}
