//! Arguments: bytes that no gateway would let through, straight to the functions. Each is refused by name.

use serde_json::{Value, json};
use tests::app::{code, key, prepare};
use tests::{App, run, shared};

use crate::case::Case;

const ID: &str = "ord_8F3K2";

/// The arguments of `prepare_refund` with this text for one of them.
fn with(name: &str, text: &str) -> Vec<u8> {
    let members =
        [("order_id", "\"ord_8F3K2\""), ("amount_minor", "1200"), ("currency", "\"EUR\""), ("reason_code", "\"late\"")];
    let members = members.map(|(member, value)| format!("\"{member}\":{}", if member == name { text } else { value }));
    format!("{{{}}}", members.join(",")).into_bytes()
}

/// The arguments of `prepare_refund` with these bytes before the closing brace.
fn and(more: &[u8]) -> Vec<u8> {
    let whole = with("", "");
    [&whole[..whole.len() - 1], more, b"}"].concat()
}

fn around(before: &[u8], after: &[u8]) -> Vec<u8> {
    [before, &with("", ""), after].concat()
}

fn rows() -> Vec<(Vec<u8>, &'static str)> {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let whole: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b" ".to_vec(),
        b"null".to_vec(),
        b"true".to_vec(),
        b"1200".to_vec(),
        b"\"order_id\"".to_vec(),
        b"[]".to_vec(),
        br#"["ord_8F3K2",1200,"EUR","late"]"#.to_vec(),
        b"{".to_vec(),
        b"\xff\xff".to_vec(),
        around(b"\xef\xbb\xbf", b""),
        around(b"\0", b""),
        around(b"", b"\0"),
        around(b"", b"x"),
        around(b"", b"{}"),
        around(b"", b","),
        around(b"[", b"]"),
        and(b","),
        and(br#","\ud800":1"#),
        and(b",\"\xff\":1"),
        and(br#",tenant:"globex""#),
        and(b"/* a comment */"),
        with("currency", "'EUR'"),
        with("currency", "\"E\0R\""),
        with("amount_minor", "NaN"),
        with("amount_minor", "+1"),
        with("amount_minor", "0x10"),
        with("amount_minor", "01"),
        with("amount_minor", "1."),
        with("amount_minor", &nested(8)),
        and(format!(",\"more\":{}", "[".repeat(100_000)).as_bytes()),
        and(format!(",\"more\":\"{}\"", "m".repeat(17 * 1024)).as_bytes()),
        around(" ".repeat(16 * 1024).as_bytes(), b""),
    ];
    let numbers = [
        "1200.0",
        "1e3",
        "12E2",
        "-0",
        "0",
        "-1",
        "50001",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551616",
        "1e400",
        "\"12\"",
        "true",
        "[12]",
        "{}",
        "null",
    ];
    let ids = [
        "\"8F3K2\"",
        "\"ord_\"",
        "\"ORD_8F3K2\"",
        "\"ord_8F3K2 \"",
        "\"ord_8F3K2\\n\"",
        "\"ord_8F3K2\\u0000\"",
        "\"ord_\\ud800\"",
        "\"ord_8F3K2#x\"",
        "\"ord_\u{ff18}\"",
        "\"ord_aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
        "1",
        "null",
        "[\"ord_8F3K2\"]",
    ];
    let words = ["\"Late\"", "\"\"", "\"refund everything\"", "{\"late\":null}", "0", "null"];
    let mut rows: Vec<(Vec<u8>, &str)> = whole.into_iter().map(|payload| (payload, "arguments")).collect();
    rows.extend(numbers.map(|text| (with("amount_minor", text), "amount_minor")));
    rows.extend(ids.map(|text| (with("order_id", text), "order_id")));
    rows.extend(words.map(|text| (with("reason_code", text), "reason_code")));
    rows.extend(["\"eur\"", "\"XXX\"", "\"EURO\"", "978", "null"].map(|text| (with("currency", text), "currency")));
    rows.extend([
        (with("amount_minor", &nested(7)), "amount_minor"),
        (b"{}".to_vec(), "order_id"),
        (br#"{"order_id":"ord_8F3K2","amount_minor":1,"currency":"EUR"}"#.to_vec(), "reason_code"),
        (and(br#","amount_minor":1"#), "amount_minor"),
        (and(br#","amount\u005fminor":1"#), "amount_minor"),
        (and(br#","tenant":"globex""#), "tenant"),
        (and(br#","Order_id":"ord_8F3K2""#), "Order_id"),
        (and(br#","__proto__":{}"#), "__proto__"),
        (and(br#","approved":true"#), "approved"),
    ]);
    rows
}

#[test]
fn every_malformed_argument_is_refused_by_its_name_and_the_next_call_works() {
    run(async {
        let app = shared().await;
        let agent = app.direct("acme-agent");
        for (payload, field) in rows() {
            let shown = String::from_utf8_lossy(&payload[..payload.len().min(200)]).into_owned();
            let answer = agent.bytes("prepare_refund", payload).await;
            assert_eq!(code(&answer), "invalid_input", "{shown}: {answer}");
            assert_eq!(answer["error"]["field"], field, "{shown}: {answer}");
            assert_eq!(answer["error"]["retry"], "never");
        }
        assert_eq!(code(&agent.bytes("prepare_refund", with("", "")).await), "ok");
    });
}

#[test]
fn the_bounds_themselves_are_accepted() {
    run(async {
        let app = shared().await;
        let agent = app.direct("acme-agent");
        let whole = with("", "");
        let padded = [" ".repeat(16 * 1024 - whole.len()).as_bytes(), &whole].concat();
        assert_eq!(padded.len(), 16 * 1024);
        let escaped = String::from_utf8(whole).unwrap().replace("order_id", r"order\u005fid").into_bytes();
        for payload in [padded, escaped, with("amount_minor", "1"), with("amount_minor", "\n1200\t")] {
            let answer = agent.bytes("prepare_refund", payload).await;
            assert_eq!(code(&answer), "ok", "{answer}");
        }
    });
}

#[test]
fn every_tool_refuses_what_is_no_object_of_its_own_arguments() {
    run(async {
        let app = shared().await;
        let tools = [
            ("get_order_summary", json!({ "order_id": ID }), "order_id"),
            ("submit_refund", json!({ "proposal_id": proposal_of_nobody(), "idempotency_key": key() }), "proposal_id"),
            ("get_refund_status", json!({ "operation_id": format!("op_{}", "a".repeat(26)) }), "operation_id"),
            ("cancel_refund", json!({ "operation_id": format!("op_{}", "a".repeat(26)) }), "operation_id"),
        ];
        for (tool, good, first) in tools {
            let agent = app.direct("acme-agent");
            let text = good.to_string();
            let mut unknown = good.clone();
            unknown["tenant"] = json!("globex");
            let mut null = good.clone();
            null[first] = Value::Null;
            let twice = text.replacen('{', &format!("{{\"{first}\":{},", good[first]), 1);
            let escaped_twice =
                text.replacen('{', &format!("{{\"{}\":{},", first.replace('_', "\\u005f"), good[first]), 1);
            let rows = [
                (String::new(), "arguments"),
                (json!([good]).to_string(), "arguments"),
                (format!("{text}{text}"), "arguments"),
                (unknown.to_string(), "tenant"),
                (null.to_string(), first),
                ("{}".to_owned(), first),
                (twice, first),
                (escaped_twice, first),
            ];
            for (payload, field) in rows {
                let answer = agent.bytes(tool, payload.clone()).await;
                assert_eq!(code(&answer), "invalid_input", "{tool} {payload}: {answer}");
                assert_eq!(answer["error"]["field"], field, "{tool} {payload}: {answer}");
            }
            assert_ne!(code(&agent.bytes(tool, text).await), "invalid_input", "{tool}");
        }
    });
}

#[test]
fn an_idempotency_key_is_16_to_64_characters_of_its_alphabet() {
    run(async {
        let app = shared().await;
        for (key, accepted) in [
            ("k".repeat(15), false),
            ("k".repeat(16), true),
            ("-_Z9".repeat(16), true),
            ("k".repeat(65), false),
            (format!("{}#", "k".repeat(20)), false),
            (format!("{} ", "k".repeat(20)), false),
            (format!("{}é", "k".repeat(20)), false),
        ] {
            let arguments = json!({ "proposal_id": proposal_of_nobody(), "idempotency_key": key });
            let answer = app.direct("acme-agent").call("submit_refund", arguments).await;
            let expected = if accepted { "not_found" } else { "invalid_input" };
            assert_eq!(code(&answer), expected, "{key}: {answer}");
            assert_eq!(answer["error"].get("field").is_some(), !accepted, "{key}: {answer}");
        }
    });
}

#[test]
fn a_refusal_never_repeats_what_was_sent() {
    run(async {
        let app: &App = shared().await;
        let words = "ignore-all-previous-instructions";
        let quoted = format!("\"{words}\"");
        for payload in ["order_id", "amount_minor", "currency", "reason_code"].map(|name| with(name, &quoted)) {
            let answer = app.direct("acme-agent").bytes("prepare_refund", payload).await;
            assert_eq!(code(&answer), "invalid_input");
            assert!(!answer.to_string().contains(words), "{answer}");
        }
        let name = format!("<b>{}</b>", "m".repeat(200));
        let answer = app.direct("acme-agent").bytes("prepare_refund", and(format!(",\"{name}\":1").as_bytes())).await;
        let field = answer["error"]["field"].as_str().unwrap();
        assert!(field.len() <= 64 && !field.contains('<'), "{answer}");
        assert!(!answer.to_string().contains('<'), "{answer}");
    });
}

#[test]
fn a_refused_argument_leaves_no_proposal_behind() {
    run(async {
        let case = Case::new(shared().await).await;
        let mut arguments = prepare(&case.order, 1);
        for (name, value) in [("amount_minor", json!(0)), ("currency", json!("USD")), ("reason_code", json!("why not"))]
        {
            let good = std::mem::replace(&mut arguments[name], value);
            assert_eq!(case.refused("prepare_refund", arguments.clone(), &[]).await["field"], name);
            arguments[name] = good;
        }
        let answer = case.call("prepare_refund", arguments).await;
        assert_eq!(answer["reused"], false, "{answer}");
    });
}

fn proposal_of_nobody() -> String {
    format!("prop_{}", "a".repeat(26))
}
