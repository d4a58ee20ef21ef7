//! The reading of pages, as Stripe writes them and as it must not be believed.

use serde_json::{Value, json};

use super::*;

fn intent() -> IntentId {
    IntentId::parse("prop_aaaaaaaaaaaaaaaaaaaaaaaaaa").unwrap()
}

fn request() -> Request {
    Request {
        account: "acct_1".into(),
        live: false,
        form: String::new(),
        amount: 100,
        currency: "eur".into(),
        payment: "pi_1".into(),
    }
}

/// A refund of somebody else's.
fn other(id: &str) -> Value {
    json!({ "id": id, "amount": 7, "currency": "eur", "payment_intent": "pi_1", "metadata": {}, "status": "succeeded" })
}

/// The refund that is looked for, with a member changed.
fn ours(member: &str, value: impl Into<Value>) -> Value {
    let mut refund = json!({
        "id": "re_1", "amount": 100, "currency": "eur", "payment_intent": "pi_1", "status": "succeeded",
        "metadata": { "intent_id": intent(), "tenant": "acme" },
    });
    refund[member] = value.into();
    refund
}

fn page(data: impl IntoIterator<Item = Value>, has_more: bool) -> String {
    json!({ "object": "list", "data": data.into_iter().collect::<Vec<_>>(), "has_more": has_more }).to_string()
}

/// What these answers come to. They have to be read to the last, and no further.
fn read(answers: &[(u16, String)]) -> Found {
    let (intent, request) = (intent(), request());
    let mut search = Search::new(&intent, &request);
    let mut answers = answers.iter();
    loop {
        let (status, body) = answers.next().expect("it wants another page");
        if let Next::Done(found) = search.read(*status, body.as_bytes()) {
            assert_eq!(answers.next(), None, "it wants no further page");
            return found;
        }
    }
}

fn one(data: impl IntoIterator<Item = Value>) -> Found {
    read(&[(200, page(data, false))])
}

#[test]
fn the_refund_of_the_intent_is_found_among_others_and_taken_for_what_it_is() {
    let re_1 = || "re_1".to_owned();
    for (status, expected) in [
        ("succeeded", Found::Happened(re_1())),
        ("pending", Found::Accepted(re_1())),
        ("requires_action", Found::Accepted(re_1())),
        ("new_in_2030", Found::Accepted(re_1())),
        ("failed", Found::Undone { reference: re_1(), reason: "failed".into() }),
        ("canceled", Found::Undone { reference: re_1(), reason: "canceled".into() }),
    ] {
        assert_eq!(one([other("re_2"), ours("status", status), other("re_0")]), expected, "{status}");
    }
    assert_eq!(one([ours("status", Value::Null)]), Found::Accepted(re_1()));
    let mut failed = ours("status", "failed");
    failed["failure_reason"] = "expired_or_canceled_card".into();
    assert_eq!(one([failed]), Found::Undone { reference: re_1(), reason: "expired_or_canceled_card".into() });
}

#[test]
fn absence_is_what_a_list_shows_that_was_read_to_its_end() {
    assert_eq!(one([]), Found::Absent);
    assert_eq!(one([other("re_2"), ours("metadata", json!({ "intent_id": "prop_b" }))]), Found::Absent);
    let pages = [(200, page([other("re_3"), other("re_2")], true)), (200, page([other("re_1")], false))];
    assert_eq!(read(&pages), Found::Absent);
}

#[test]
fn the_next_page_begins_after_the_last_refund_of_this_one() {
    let (intent, request) = (intent(), request());
    let mut search = Search::new(&intent, &request);
    let first = search.read(200, page([other("re_9"), other("re_8")], true).as_bytes());
    assert_eq!(first, Next::Page("re_8".to_owned()));
    let second = search.read(200, page([ours("status", "pending")], false).as_bytes());
    assert_eq!(second, Next::Done(Found::Accepted("re_1".to_owned())));
}

#[test]
fn what_contradicts_the_request_is_no_success() {
    for (member, value) in [
        ("amount", json!(101)),
        ("currency", json!("usd")),
        ("payment_intent", json!("pi_2")),
        ("payment_intent", Value::Null),
        ("livemode", json!(true)),
    ] {
        let found = one([ours(member, value)]);
        assert!(matches!(found, Found::Contradiction(_)), "{member}: {found:?}");
    }
    assert_eq!(one([ours("livemode", false)]), Found::Happened("re_1".to_owned()));
}

#[test]
fn two_refunds_of_one_intent_are_a_contradiction_wherever_they_lie() {
    let second = ours("id", "re_2");
    assert!(matches!(one([ours("status", "failed"), second.clone()]), Found::Contradiction(_)));
    let pages = [(200, page([ours("status", "pending")], true)), (200, page([second], false))];
    assert!(matches!(read(&pages), Found::Contradiction(_)));
}

#[test]
fn what_is_no_list_read_to_its_end_proves_nothing() {
    let more = |id| (200, page([other(id)], true));
    let found = |status| (status, page([ours("status", "succeeded")], false));
    let strange = |member: &str, value: Value| {
        let mut refund = other("re_2");
        refund[member] = value;
        vec![(200, page([refund], false))]
    };
    let rows = [
        vec![found(401)],
        vec![found(404)],
        vec![found(429)],
        vec![found(500)],
        vec![found(201)],
        vec![(200, String::new())],
        vec![(200, "<html>".into())],
        vec![(200, r#"{"data":[]}"#.into())],
        vec![(200, r#"{"data":[],"has_more":null}"#.into())],
        vec![(200, r#"{"data":[],"has_more":true,"has_more":false}"#.into())],
        vec![(200, page([], true))],
        vec![more("re_2"), more("re_2")],
        vec![(200, page([other("re_2"), other("re_2")], false))],
        vec![(200, page([ours("status", "succeeded")], true)), (500, String::new())],
        strange("payment_intent", "pi_2".into()),
        strange("id", "".into()),
        strange("id", "re_2&limit=1".into()),
        strange("amount", "7".into()),
    ];
    for row in rows {
        let found = read(&row);
        assert!(matches!(found, Found::Nothing(_)), "{row:?}: {found:?}");
    }
}

#[test]
fn a_list_without_end_is_read_for_twenty_pages() {
    let pages = |count: usize, ends: bool| {
        let page = |number| (200, page([other(&format!("re_x{number}"))], !(ends && number + 1 == count)));
        (0..count).map(page).collect::<Vec<_>>()
    };
    assert_eq!(read(&pages(20, true)), Found::Absent);
    assert!(matches!(read(&pages(20, false)), Found::Nothing(_)));
}
