//! Every code with which a tool can refuse, provoked: what it is, whether to retry, and whom or what to turn to.

use std::collections::BTreeSet;
use std::path::Path;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tests::{App, run, shared};

use crate::situations::{self, Refusal};

/// A code and what goes with it.
struct Row {
    code: &'static str,
    retry: &'static str,
    /// The tool or the person that the next step names. [`AGAIN`] is the tool that was called.
    next: &'static str,
    provoke: fn(&'static App) -> BoxFuture<'static, Vec<Refusal>>,
}

const AGAIN: &str = "call again";

#[rustfmt::skip]
const ROWS: [Row; 19] = [
    Row { code: "invalid_input", retry: "never", next: AGAIN, provoke: |app| situations::outside_the_contract(app).boxed() },
    Row { code: "unauthenticated", retry: "never", next: "the platform team", provoke: |app| situations::nobody_calls(app).boxed() },
    Row { code: "forbidden", retry: "never", next: "a person who holds the needed role", provoke: |app| situations::no_role(app).boxed() },
    Row { code: "not_found", retry: "never", next: "the requester", provoke: |app| situations::nothing_there(app).boxed() },
    Row { code: "held", retry: "later", next: "the operations team", provoke: |_| situations::held().boxed() },
    Row { code: "exceeds_refundable", retry: "never", next: "get_order_summary", provoke: |app| situations::too_much(app).boxed() },
    Row { code: "approval_required", retry: "later", next: "a person who may approve", provoke: |app| situations::undecided(app).boxed() },
    Row { code: "approval_rejected", retry: "never", next: "the requester", provoke: |app| situations::rejected(app).boxed() },
    Row { code: "approval_expired", retry: "later", next: "a person", provoke: |app| situations::approval_lapsed(app).boxed() },
    Row { code: "approval_mismatch", retry: "never", next: "the platform team", provoke: |app| situations::approval_of_another(app).boxed() },
    Row { code: "approval_revoked", retry: "never", next: "prepare_refund", provoke: |app| situations::revoked(app).boxed() },
    Row { code: "proposal_expired", retry: "never", next: "prepare_refund", provoke: |app| situations::proposal_lapsed(app).boxed() },
    Row { code: "proposal_stale", retry: "never", next: "get_order_summary", provoke: |app| situations::terms_moved(app).boxed() },
    Row { code: "proposal_already_submitted", retry: "never", next: "get_refund_status", provoke: |app| situations::other_key(app).boxed() },
    Row { code: "idempotency_key_reused", retry: "never", next: "get_refund_status", provoke: |app| situations::key_of_another(app).boxed() },
    Row { code: "too_late_to_cancel", retry: "never", next: "nothing is left to do", provoke: |app| situations::already_sent(app).boxed() },
    Row { code: "deadline_too_close", retry: "same_key", next: AGAIN, provoke: |app| situations::no_time(app).boxed() },
    Row { code: "temporarily_unavailable", retry: "same_key", next: AGAIN, provoke: |app| situations::no_database(app).boxed() },
    Row { code: "internal", retry: "same_key", next: "the platform team", provoke: |app| situations::damaged_records(app).boxed() },
];

/// Codes that none of these tools gives.
const ELSEWHERE: [(&str, &str); 9] = [
    ("not_waiting", "an answer to a person who resolves: reconcile/resolve.rs"),
    ("not_held", "an answer to a person who releases: delivery/holds.rs"),
    ("limit_exceeded", "an answer to a person who approves: consents.rs"),
    ("acknowledgment_required", "an answer to a person who approves: page/deciding.rs"),
    ("already_decided", "an answer to a person who approves: consents.rs"),
    ("response_too_large", "no answer of these tools can be: contracts/answers.rs; the kernel's host.rs"),
    ("plan_expired", "a plan's, which no tool here submits"),
    ("plan_stale", "a plan's, which no tool here submits"),
    ("plan_already_applied", "a plan's, which no tool here submits"),
];

#[test]
fn every_refusal_says_whether_to_retry_and_whom_or_what_to_turn_to_and_has_claimed_nothing() {
    run(async {
        let app = shared().await;
        for row in &ROWS {
            let refusals = (row.provoke)(app).await;
            assert!(!refusals.is_empty(), "{}", row.code);
            for refusal in refusals {
                row.check(&refusal);
            }
        }
    });
}

impl Row {
    fn check(&self, Refusal { tool, error, field, operation }: &Refusal) {
        let said = format!("{tool}: {error}");
        assert_eq!(error["code"], self.code, "{said}");
        assert_eq!(error["retry"], self.retry, "{said}");
        let next = error["next_step"].as_str().unwrap();
        assert!(next.contains(self.next), "{said}");
        assert!(!error["message"].as_str().unwrap().is_empty(), "{said}");
        assert_eq!(error.get("field").and_then(|field| field.as_str()), *field, "{said}");
        assert_eq!(error.get("operation_id").and_then(|id| id.as_str()), operation.as_deref(), "{said}");
    }
}

#[test]
fn every_code_that_the_sources_declare_is_provoked_here_or_belongs_elsewhere() {
    let provoked: BTreeSet<String> = ROWS.iter().map(|row| row.code.to_owned()).collect();
    let elsewhere: BTreeSet<String> = ELSEWHERE.iter().map(|(code, _)| (*code).to_owned()).collect();
    assert_eq!(provoked.len(), ROWS.len(), "a code has two rows");
    assert!(provoked.is_disjoint(&elsewhere), "a code that is provoked belongs here");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut declared = BTreeSet::new();
    for folder in ["shared", "functions"] {
        codes_under(&root.join(folder), &mut declared);
    }
    assert_eq!(declared, provoked.union(&elsewhere).cloned().collect());
}

/// The codes that source files declare: the kernel's in its `codes!` block, a domain's with `Code::new("…")`.
fn codes_under(folder: &Path, codes: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            codes_under(&path, codes);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            let block = source.split_once("\ncodes! {").map(|(_, rest)| rest.split_once("\n}").unwrap().0);
            codes.extend(block.unwrap_or_default().lines().filter_map(|line| quoted(line.split_once(" = \"")?.1)));
            codes.extend(source.split("Code::new(\"").skip(1).filter_map(quoted));
        }
    }
}

/// What comes before the next quotation mark.
fn quoted(text: &str) -> Option<String> {
    Some(text.split_once('"')?.0.to_owned())
}
