//! The way of an operator at the command line: told at the terminal, shown what there is, asked before it is final.

use std::path::Path;
use std::process::Stdio;

use aws_credential_types::Credentials;
use countersign::bounded::{OperationId, Tenant};
use countersign::change::{Change, Step};
use countersign::config::dynamodb;
use countersign::ledger::{Commit, Dynamo, Ledger as _, TableNames};
use countersign::operation;
use local::client::Client;
use local::lambda::REGION;
use refunds::{Order, OrderId};
use serde_json::json;
use tests::accounts::past;
use tests::app::{key, submit};
use tests::process::{Process, Ran, ended, folder, local, succeeded};
use tests::run;

const ABSENT: &str = "op_aaaaaaaaaaaaaaaaaaaaaaaaaa";

async fn prepared(agent: &Client, amount: i64) -> String {
    let arguments = json!({
        "order_id": "ord_8F3K2", "amount_minor": amount, "currency": "EUR", "reason_code": "damaged",
    });
    let answer = agent.call("prepare_refund", arguments).await.unwrap();
    assert_eq!(answer.code(), "ok", "{answer:?}");
    answer.text("proposal_id").to_owned()
}

/// A refund that has gone all the way: its proposal and its operation.
async fn refunded(gateway: &Process, agent: &Client, amount: i64) -> (String, String) {
    let proposal = prepared(agent, amount).await;
    done(&gateway.ran(&["approve", &proposal, "--as", "acme-approver", "--yes"]).await);
    let receipt = agent.call("submit_refund", submit(&proposal, &key())).await.unwrap();
    assert_eq!(receipt.code(), "ok", "{receipt:?}");
    let operation = receipt.text("operation_id").to_owned();
    succeeded(agent, &operation).await;
    (proposal, operation)
}

/// Writes to the ledger past the gateway, as an administrator would.
async fn write(gateway: &Process, change: Change) {
    let url = gateway.welcome.split("database ").nth(1).unwrap().split_whitespace().next().unwrap();
    let client = dynamodb(REGION, Credentials::new("local", "local", None, None, "local"), Some(url));
    let tables = TableNames { ledger: "ledger".to_owned(), consents: "consents".to_owned() };
    assert_eq!(Dynamo::new(client, tables).commit(&change).await.unwrap(), Commit::Done);
}

/// Waits until the provider's event about a refund was handled: it would have it found again.
async fn handled(folder: &Path, operation: &str) {
    for _ in 0..1_000 {
        let log = std::fs::read_to_string(folder.join("functions.log")).unwrap();
        if log.lines().any(|line| line.starts_with("refund_webhook: ") && line.contains(operation)) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("nobody told of {operation}");
}

/// Has the ledger forget how a refund ended, as a backup would have: what was begun to be sent and is too old to be sent
/// again is an operator's.
async fn forget(gateway: &Process, operation: &str, amount: i64) {
    let tenant = Tenant::parse("acme").unwrap();
    let order = Order::key(&tenant, &OrderId::parse("ord_8F3K2").unwrap());
    let operation = operation::key(&tenant, &OperationId::parse(operation).unwrap());
    let queued = Step::update(operation).set("state", "queued").set("execute_until", past()).set("due_at", past());
    let reserved = Step::update(order).add("refunded_minor", -amount).add("reserved_minor", amount);
    write(gateway, Change(vec![queued, reserved])).await;
}

fn done(ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

fn refused(ran: &Ran, start: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    let last = ran.stderr.lines().last().unwrap();
    assert!(last.starts_with(&format!("error: {start}")), "{last}");
    // What an agent would do, or whoever calls a tool, helps nobody at a command line.
    for word in ["call ", "tool", "argument"] {
        let next = last.rsplit("; ").next().unwrap().replace("have the requester call", "");
        assert!(!next.contains(word), "{last}");
    }
}

/// Starts a gateway whose standard error can be read.
async fn started(folder: &Path) -> Process {
    let command = local(&["--folder", folder.to_str().unwrap(), "--port", "0"]).await;
    Process::of(command, folder).await
}

/// Runs a subcommand at a terminal where somebody types this.
async fn typed(gateway: &Process, folder: &Path, arguments: &[&str], line: &str) -> Ran {
    let local = local(&[&["--folder", folder.to_str().unwrap()], arguments].concat()).await;
    let words = [local.as_std().get_program()].into_iter().chain(local.as_std().get_args());
    let words: Vec<_> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let mut script = tokio::process::Command::new("sh");
    // https://man7.org/linux/man-pages/man1/script.1.html
    script.args(["-c", "printf '%s\\n' \"$1\" | script --quiet --return --command \"$2\" /dev/null", "sh", line]);
    script.arg(words.join(" ")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    assert!(gateway.id() > 0);
    ended(script).await
}

#[test]
fn a_refund_that_needs_an_operator_is_told_at_the_terminal_listed_shown_and_resolved() {
    run(async {
        let folder = folder();
        let mut gateway = started(folder.path()).await;
        let agent = gateway.client("acme-agent").await;
        let nothing = gateway.ran(&["attention", "--as", "acme-operator"]).await;
        assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(0), "nothing needs a person\n"), "{nothing:?}");
        let (_, operation) = refunded(&gateway, &agent, 2_500).await;
        handled(folder.path(), &operation).await;
        forget(&gateway, &operation, 2_500).await;
        let told = gateway.told("attention: ").await;
        let path = folder.path().display();
        let look = format!("cargo local attention {operation} --as acme-operator --folder {path}");
        assert_eq!(told, format!("attention: {operation} of acme needs an operator: {look}"));

        let listed = gateway.ran(&["attention", "--as", "acme-operator"]).await;
        done(&listed);
        let lines: Vec<_> = listed.stdout.lines().collect();
        assert_eq!(lines.len(), 2, "{listed:?}");
        assert_eq!(
            lines[0].split_whitespace().collect::<Vec<_>>(),
            ["OPERATION", "ORDER", "AMOUNT", "STATE", "SINCE", "WHY"]
        );
        for cell in [&operation, "ord_8F3K2", "EUR 25.00", "needs_operator", "it was not sent in time"] {
            assert!(lines[1].contains(cell), "{cell} is not in {}", lines[1]);
        }
        let shown = gateway.ran(&["attention", &operation, "--as", "acme-operator"]).await;
        done(&shown);
        let expected = [
            "EUR 25.00",
            "pi_acme_8F3K2 at acct_acme (test)",
            "acme-clerk, approved by acme-approver",
            "needs_operator",
            "EUR 104.00 refundable, EUR 25.00 reserved, EUR 0.00 refunded",
            "succeeded; then EUR 104.00 refundable, EUR 0.00 reserved, EUR 25.00 refunded",
            "failed; then EUR 129.00 refundable, EUR 0.00 reserved, EUR 0.00 refunded",
        ];
        for line in expected {
            assert!(shown.stdout.contains(line), "{line} is not shown: {}", shown.stdout);
        }
        for persona in ["acme-agent", "acme-approver", "globex-approver"] {
            refused(&gateway.ran(&["attention", "--as", persona]).await, "forbidden: ");
            refused(&gateway.ran(&["attention", &operation, "--as", persona]).await, "forbidden: ");
        }

        let words = ["resolve", &operation, "--outcome", "succeeded", "--evidence", "re_1 on the dashboard", "--as"];
        let unasked = gateway.ran(&[&words[..], &["acme-operator"]].concat()).await;
        assert_eq!((unasked.code, unasked.stdout.as_str()), (Some(1), ""), "{unasked:?}");
        for line in expected.iter().chain(&["succeeded: re_1 on the dashboard"]) {
            assert!(unasked.stderr.contains(line), "{line} is not shown: {}", unasked.stderr);
        }
        assert!(unasked.stderr.ends_with("error: nobody can be asked here; say --yes if a person has decided\n"));
        refused(&gateway.ran(&[&words[..], &["acme-approver", "--yes"]].concat()).await, "forbidden: ");

        // At a terminal, anything but a yes changes nothing.
        let asked = [&words[..], &["acme-operator"]].concat();
        let no = typed(&gateway, folder.path(), &asked, "y").await;
        assert!(
            no.code == Some(1) && no.stdout.contains("Type yes: ") && no.stdout.contains("nothing was changed"),
            "{no:?}"
        );
        assert!(gateway.ran(&["attention", "--as", "acme-operator"]).await.stdout.contains(&operation));
        let yes = typed(&gateway, folder.path(), &asked, "yes").await;
        assert!(yes.code == Some(0) && yes.stdout.contains(&format!("{operation}: succeeded")), "{yes:?}");
        let nothing = gateway.ran(&["attention", "--as", "acme-operator"]).await;
        assert_eq!(nothing.stdout, "nothing needs a person\n");
        refused(&gateway.ran(&[&asked[..], &["--yes"]].concat()).await, "not_waiting: ");
        agent.close().await;
    });
}

#[test]
fn what_is_no_operation_or_no_evidence_is_refused_in_the_words_of_a_command_line() {
    run(async {
        let folder = folder();
        let gateway = Process::start(folder.path(), 0).await;
        let long = "x".repeat(501);
        for (operation, outcome, evidence, about) in [
            ("op_1", "failed", "seen", "'<OPERATION>'"),
            ("", "failed", "seen", "'<OPERATION>'"),
            (ABSENT, "queued", "seen", "'--outcome <OUTCOME>'"),
            (ABSENT, "failed", "", "'--evidence <EVIDENCE>'"),
            (ABSENT, "failed", "  ", "'--evidence <EVIDENCE>'"),
            (ABSENT, "failed", "a\nb", "'--evidence <EVIDENCE>'"),
            (ABSENT, "failed", &long, "'--evidence <EVIDENCE>'"),
        ] {
            let arguments =
                ["resolve", operation, "--as", "acme-operator", "--outcome", outcome, "--evidence", evidence];
            let ran = gateway.ran(&[&arguments[..], &["--yes"]].concat()).await;
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
            assert!(ran.stderr.contains(about) && ran.stderr.contains("expected: "), "{}", ran.stderr);
            assert!(!ran.stderr.contains("tool"), "{}", ran.stderr);
        }
        let resolve =
            ["resolve", ABSENT, "--as", "acme-operator", "--outcome", "failed", "--evidence", "seen", "--yes"];
        refused(&gateway.ran(&resolve).await, "not_found: ");
    });
}

#[test]
fn a_hold_and_its_release_are_told_with_who_and_why_and_neither_is_done_twice() {
    run(async {
        let folder = folder();
        let gateway = Process::start(folder.path(), 0).await;
        let holds = async || {
            let ran = gateway.ran(&["holds"]).await;
            done(&ran);
            ran.stdout
        };
        assert_eq!(holds().await, "refunds are not held\n");
        for verb in ["hold", "release"] {
            for why in ["", " ", "a\nb"] {
                let ran = gateway.ran(&[verb, "--as", "acme-operator", "--reason", why]).await;
                assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
            }
            let nobody = gateway.ran(&[verb, "--reason", "the bank called"]).await;
            assert_eq!(nobody.code, Some(2), "{nobody:?}");
            let ran = gateway.ran(&[verb, "--as", "acme-approver", "--reason", "for fun"]).await;
            refused(&ran, "forbidden: ");
        }
        let release = ["release", "--as", "acme-operator", "--reason", "all is well"];
        let hold = ["hold", "--as", "acme-operator", "--reason", "the bank called"];
        refused(&gateway.ran(&release).await, "not_held: ");
        done(&gateway.ran(&hold).await);
        let again = gateway.ran(&hold).await;
        refused(&again, "held: refunds are held already, since ");
        assert!(again.stderr.contains("by acme-operator, because: the bank called"), "{again:?}");
        let held = holds().await;
        assert!(held.starts_with("refunds are held since ") && held.contains(": the bank called\n"), "{held}");
        done(&gateway.ran(&release).await);
        refused(&gateway.ran(&release).await, "not_held: ");
        let lines = holds().await;
        let lines: Vec<_> = lines.lines().collect();
        assert_eq!((lines.len(), lines[0]), (3, "refunds are not held"), "{lines:?}");
        assert!(lines[1].ends_with("released  by acme-operator of acme: all is well"), "{lines:?}");
        assert!(lines[2].ends_with("held      by acme-operator of acme: the bank called"), "{lines:?}");
    });
}

#[test]
fn taking_an_approval_back_too_late_fails_and_says_what_is_left_to_do() {
    run(async {
        let folder = folder();
        let gateway = Process::start(folder.path(), 0).await;
        let agent = gateway.client("acme-agent").await;
        let decide =
            async |verb: &str, proposal: &str| gateway.ran(&[verb, proposal, "--as", "acme-approver", "--yes"]).await;
        let (proposal, operation) = refunded(&gateway, &agent, 1_000).await;
        let late = decide("revoke", &proposal).await;
        refused(&late, &format!("too late: {operation} is succeeded, and the money has gone back"));
        refused(&decide("approve", &proposal).await, "already_decided: the proposal was already submitted (op_");

        let open = prepared(&agent, 1_100).await;
        refused(&decide("revoke", &open).await, "not_found: ");
        done(&decide("approve", &open).await);
        let twice = decide("approve", &open).await;
        refused(&twice, "already_decided: this is approved already; nothing is left to decide");
        done(&decide("revoke", &open).await);
        done(&decide("revoke", &open).await);
        refused(
            &decide("approve", &open).await,
            "already_decided: an approval of this was taken back; if it is still wanted",
        );

        let rejected = prepared(&agent, 1_200).await;
        done(&decide("reject", &rejected).await);
        refused(&decide("revoke", &rejected).await, "already_decided: it was rejected");
        agent.close().await;
    });
}
