//! Rows: bytes for a tool, and what has to come back. The tables are beside.

use serde_json::{Value, json};
use tests::run;
use tests::watched::Watch;

use crate::{numbers, structure, texts};

/// What has to become of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expected {
    /// `invalid_input` for this field, and no database request.
    Refused(&'static str),
    /// Valid, and nothing of the caller's: `not_found`.
    NotFound,
    /// Valid, and answered.
    Answered,
}

pub(crate) use Expected::{Answered, NotFound, Refused};

/// One row of the tables.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) tool: &'static str,
    pub(crate) payload: Vec<u8>,
    pub(crate) expected: Expected,
}

/// The arguments of a tool with this text in place of one value. Nothing that they name exists.
pub(crate) fn with(tool: &str, field: &str, text: &str) -> Vec<u8> {
    let proposal = format!("\"prop_{}\"", "a".repeat(26));
    let members: &[(&str, &str)] = match tool {
        "get_order_summary" => &[("order_id", "\"ord_NOBODY\"")],
        "cancel_refund" | "get_refund_status" => &[("operation_id", "\"op_aaaaaaaaaaaaaaaaaaaaaaaaaa\"")],
        "prepare_refund" => &[
            ("order_id", "\"ord_NOBODY\""),
            ("amount_minor", "1200"),
            ("currency", "\"EUR\""),
            ("reason_code", "\"late\""),
        ],
        "submit_refund" => &[("proposal_id", &proposal), ("idempotency_key", "\"key-of-nobody-0001\"")],
        other => panic!("say here how `{other}` is called"),
    };
    let members =
        members.iter().map(|(name, value)| format!("\"{name}\":{}", if *name == field { text } else { value }));
    format!("{{{}}}", members.collect::<Vec<_>>().join(",")).into_bytes()
}

/// The rows of one field, by the text that stands in its place.
pub(crate) fn of<'a>(
    tool: &'static str,
    field: &'static str,
    texts: impl IntoIterator<Item = &'a str>,
    expected: &Expected,
) -> Vec<Row> {
    let row = |text: &str| {
        let shown: String = text.chars().take(40).collect();
        let (name, payload) = (format!("{field} {}", shown.escape_debug()), with(tool, field, text));
        Row { name, tool, payload, expected: expected.clone() }
    };
    texts.into_iter().map(row).collect()
}

/// The bytes of `prepare_refund`, changed as a whole.
pub(crate) fn whole(name: &str, payload: impl Into<Vec<u8>>, expected: Expected) -> Row {
    Row { name: name.to_owned(), tool: "prepare_refund", payload: payload.into(), expected }
}

/// The tools whose processes are watched.
pub(crate) fn tools() -> Vec<String> {
    ["cancel_refund", "get_order_summary", "get_refund_status", "prepare_refund", "submit_refund"]
        .map(str::to_owned)
        .into()
}

/// Waits for the test's turn, with a process of every tool started.
pub(crate) async fn watch() -> Watch {
    let watch = Watch::new().await;
    for tool in tools() {
        let watched = watch.bytes(&watch.app.direct("acme-agent"), &tool, with(&tool, "", "")).await;
        assert_eq!(watched.summary().0, "not_found", "{tool}");
    }
    watch
}

fn right(expected: &Expected, summary: (&str, Option<&str>, usize)) -> bool {
    match expected {
        Refused(field) => summary == ("invalid_input", Some(field), 0),
        NotFound => summary.0 == "not_found" && summary.2 > 0,
        Answered => summary.0 == "ok" && summary.2 > 0,
    }
}

#[test]
fn every_row_gets_its_answer_and_no_row_ends_a_process() {
    run(async {
        let watch = watch().await;
        let (agent, before) = (watch.app.direct("acme-agent"), watch.processes(&tools()));
        let rows = [numbers::rows(), texts::rows(), structure::rows()].into_iter().flatten();
        let (mut sent, mut wrong) = (0, Vec::new());
        for Row { name, tool, payload, expected } in rows {
            let watched = watch.bytes(&agent, tool, payload).await;
            sent += 1;
            if !right(&expected, watched.summary()) {
                wrong.push(format!("{tool} {name}: {:?} instead of {expected:?}", watched.summary()));
            }
        }
        assert!(wrong.is_empty(), "{} of {sent}\n{}", wrong.len(), wrong.join("\n"));
        assert!(sent >= 300, "{sent}");
        assert_eq!(watch.processes(&tools()), before);
        assert_eq!(watch.panics(), Vec::<String>::new());
    });
}

#[test]
fn what_only_looks_like_the_caller_s_own_is_answered_like_what_is_not_there() {
    run(async {
        let watch = watch().await;
        let agent = watch.app.direct("acme-agent");
        let foreign = watch.app.order("globex", countersign::bounded::Currency::Eur, 5_000).await;
        let absent = watch.bytes(&agent, "get_order_summary", with("get_order_summary", "", "")).await.answer;
        let ids = [foreign.id.to_string(), "ord_globex".to_owned(), "ord_GLOBEX8F3K2".to_owned()];
        for id in ids {
            let watched = watch.bytes(&agent, "get_order_summary", json!({ "order_id": id }).to_string()).await;
            assert_eq!(watched.answer, absent, "{id}");
        }
        assert_ne!(absent["error"], Value::Null);
    });
}
