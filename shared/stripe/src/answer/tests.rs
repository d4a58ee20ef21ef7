//! A row for each answer that Stripe documents, and for some that nobody should give.

use super::*;

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

fn refund(status: &str) -> String {
    format!(r#"{{"id":"re_1","status":"{status}","amount":100,"currency":"eur","payment_intent":"pi_1"}}"#)
}

fn error(kind: &str, code: &str, param: &str) -> String {
    serde_json::json!({ "error": { "type": kind, "code": code, "param": param } }).to_string()
}

fn answer(status: u16, body: &str) -> Answer {
    Answer { status, body: body.into(), should_retry: false, replayed: false, request_id: String::new() }
}

/// The name of what was concluded.
fn conclusion(sent: &Sent) -> &'static str {
    match sent {
        Sent::Happened(_) => "happened",
        Sent::Accepted(_) => "accepted",
        Sent::Refused(_) => "refused",
        Sent::NotExecuted(_) => "not executed",
        Sent::Unknown(_) => "unknown",
    }
}

fn check(rows: &[(u16, String, &str)], attempt: i64) {
    for (status, body, expected) in rows {
        let sent = classify(&answer(*status, body), &request(), attempt);
        assert_eq!(conclusion(&sent), *expected, "{status} {body}: {sent:?}");
    }
}

#[test]
fn a_refund_object_is_taken_for_no_more_than_it_says() {
    let rows = [
        (200, refund("succeeded"), "happened"),
        (200, refund("pending"), "accepted"),
        (200, refund("requires_action"), "accepted"),
        (200, refund("new_in_2030"), "accepted"),
        (200, refund("failed"), "refused"),
        (200, refund("canceled"), "refused"),
        (200, refund("succeeded").replace(r#""succeeded""#, "null"), "accepted"),
        (200, refund("succeeded").replace("100", "101"), "unknown"),
        (200, refund("succeeded").replace("eur", "usd"), "unknown"),
        (200, refund("succeeded").replace("pi_1", "pi_2"), "unknown"),
        (200, refund("succeeded").replace('}', r#","livemode":true}"#), "unknown"),
        (200, refund("succeeded").replace('}', r#","livemode":false}"#), "happened"),
        (200, refund("succeeded").replace("re_1", ""), "unknown"),
        (200, refund("succeeded").replace("re_1", "re 1"), "unknown"),
        (200, refund("succeeded").replace('}', r#","amount":100}"#), "unknown"),
        (200, "{}".into(), "unknown"),
        (200, String::new(), "unknown"),
        // Stripe documents 200 alone.
        (201, refund("succeeded"), "unknown"),
        (202, refund("succeeded"), "unknown"),
        (204, String::new(), "unknown"),
        (302, String::new(), "unknown"),
    ];
    check(&rows, 1);
    check(&rows, 2);
}

#[test]
fn a_refusal_is_one_for_good_only_where_it_is_stripes_last_word() {
    let rows = [
        (400, error("invalid_request_error", "charge_disputed", ""), "refused"),
        (404, error("invalid_request_error", "resource_missing", "payment_intent"), "refused"),
        (402, error("card_error", "card_declined", ""), "refused"),
        (402, error("invalid_request_error", "balance_insufficient", ""), "refused"),
        (400, error("invalid_request_error", "parameter_unknown", "amnt"), "refused"),
        (400, error("idempotency_error", "", ""), "unknown"),
        (400, error("api_error", "", ""), "unknown"),
        (402, error("api_error", "", ""), "unknown"),
        (400, error("new_in_2030", "charge_disputed", ""), "unknown"),
        (400, String::new(), "unknown"),
        (404, "<html>".into(), "unknown"),
        (400, r#"{"error":{}}"#.into(), "unknown"),
        (400, r#"{"error":"invalid_request_error"}"#.into(), "unknown"),
        (401, error("invalid_request_error", "", ""), "not executed"),
        (401, String::new(), "not executed"),
        (403, String::new(), "not executed"),
        (429, error("invalid_request_error", "rate_limit", ""), "not executed"),
        (429, error("invalid_request_error", "lock_timeout", ""), "not executed"),
        (409, error("idempotency_error", "idempotency_key_in_use", ""), "unknown"),
        (408, String::new(), "unknown"),
        (424, error("api_error", "", ""), "unknown"),
        (500, error("api_error", "", ""), "unknown"),
        (503, String::new(), "unknown"),
        // A server error is one, whatever it carries.
        (500, error("invalid_request_error", "parameter_unknown", ""), "unknown"),
        (500, refund("succeeded"), "unknown"),
    ];
    check(&rows, 1);
    check(&rows, 2);
    let rows = rows.iter().filter(|(status, ..)| [400, 402, 404].contains(status));
    for (status, body, _) in rows {
        let sent = classify(&Answer { should_retry: true, ..answer(*status, body) }, &request(), 1);
        assert!(matches!(sent, Sent::Unknown(_)), "{status} {body}: {sent:?}");
    }
}

#[test]
fn an_answer_that_is_given_again_is_the_first_one_and_a_success_in_it_an_acceptance() {
    for (status, body, expected) in [
        (500, error("api_error", "", ""), "unknown"),
        (402, error("card_error", "card_declined", ""), "refused"),
        (200, refund("pending"), "accepted"),
        // It may have come back since.
        (200, refund("succeeded"), "accepted"),
        // These are final, then and now.
        (200, refund("failed"), "refused"),
        (200, refund("canceled"), "refused"),
        (200, refund("succeeded").replace("100", "101"), "unknown"),
    ] {
        for attempt in [1, 2] {
            let sent = classify(&Answer { replayed: true, ..answer(status, &body) }, &request(), attempt);
            assert_eq!(conclusion(&sent), expected, "{status} {body}");
        }
    }
}

#[test]
fn too_little_is_left_is_a_refusal_only_when_nothing_was_sent_before() {
    for body in [
        error("invalid_request_error", "charge_already_refunded", ""),
        r#"{"error":{"type":"invalid_request_error","param":"amount"}}"#.into(),
        error("card_error", "charge_already_refunded", ""),
    ] {
        for status in [400, 402] {
            assert_eq!(conclusion(&classify(&answer(status, &body), &request(), 1)), "refused", "{body}");
            assert_eq!(conclusion(&classify(&answer(status, &body), &request(), 2)), "unknown", "{body}");
        }
    }
}

#[test]
fn a_malformed_request_is_refused_as_a_fault_of_ours() {
    for code in [
        "parameter_unknown",
        "parameter_missing",
        "parameters_exclusive",
        "parameter_invalid_integer",
        "parameter_invalid_empty",
    ] {
        let body = error("invalid_request_error", code, "amount");
        let expected = format!("malformed request, a fault of this service: {code}");
        for attempt in [1, 2] {
            assert_eq!(classify(&answer(400, &body), &request(), attempt), Sent::Refused(expected.clone()));
        }
    }
    let theirs = error("invalid_request_error", "parameterized_by_bank", "");
    assert_eq!(classify(&answer(400, &theirs), &request(), 1), Sent::Refused("parameterized_by_bank".to_owned()));
}

#[test]
fn a_reason_is_a_short_plain_word_whatever_was_answered() {
    let body = error("invalid_request_error", &format!("<b>no\n{}", "x".repeat(100)), "");
    let Sent::Refused(reason) = classify(&answer(400, &body), &request(), 1) else { panic!("no refusal") };
    assert_eq!(reason, format!("bno{}", "x".repeat(61)));
}
