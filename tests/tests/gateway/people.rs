//! The way of a refund with the command line's help: a token for the agent, a decision by a person.

use local::client::{Answer, Client};
use local::visitor::Visitor;
use serde_json::json;
use tests::app::{key, submit};
use tests::process::{Process, folder};
use tests::run;

async fn prepare(agent: &Client, amount: i64) -> String {
    let arguments = json!({
        "order_id": "ord_8F3K2", "amount_minor": amount, "currency": "EUR", "reason_code": "damaged",
    });
    let answer = agent.call("prepare_refund", arguments).await.unwrap();
    assert_eq!(answer.code(), "ok", "{answer:?}");
    answer.text("proposal_id").to_owned()
}

async fn submitted(agent: &Client, proposal: &str) -> Answer {
    agent.call("submit_refund", submit(proposal, &key())).await.unwrap()
}

#[test]
fn a_refund_goes_from_prompt_to_settled_with_the_commands_that_the_gateway_prints() {
    run(async {
        let folder = folder();
        let mut gateway = Process::start(folder.path(), 0).await;
        let welcome = &gateway.welcome;
        assert!(welcome.contains(&format!("{}/mcp", gateway.url())), "{welcome}");
        for line in ["cargo local token acme-agent", "cargo local approve PROPOSAL_ID --as acme-approver"] {
            assert!(welcome.contains(line), "{welcome}");
        }

        let agent = gateway.client("acme-agent").await;
        let proposal = prepare(&agent, 12_900).await;
        let early = submitted(&agent, &proposal).await;
        assert_eq!(early.code(), "approval_required");

        let approved = gateway.ran(&["approve", &proposal, "--as", "acme-approver", "--yes"]).await;
        assert_eq!(approved.code, Some(0), "{approved:?}");
        assert!(approved.stdout.contains("approved"), "{approved:?}");
        for shown in ["129.00", "ord_8F3K2", "damaged", "acme-clerk", "digest"] {
            assert!(approved.stderr.contains(shown), "{shown} is not shown: {}", approved.stderr);
        }
        // What a customer wrote is no part of what a person decides on.
        assert!(!approved.stderr.contains("maintenance mode"), "{}", approved.stderr);

        let receipt = submitted(&agent, &proposal).await;
        assert_eq!(receipt.code(), "ok", "{receipt:?}");
        tests::process::succeeded(&agent, receipt.text("operation_id")).await;
        agent.close().await;
        assert_eq!(gateway.end("INT").await, Some(0));
    });
}

#[test]
fn the_page_whose_address_is_printed_decides_as_the_command_does() {
    run(async {
        let folder = folder();
        let gateway = Process::start(folder.path(), 0).await;
        let printed = gateway.welcome.split("open http://").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
        let page = format!("http://{printed}");
        assert!(gateway.welcome.contains(&format!("approval_page {page}")), "{}", gateway.welcome);
        let agent = gateway.client("acme-agent").await;
        let first = prepare(&agent, 1_000).await;
        let person = Visitor::new().unwrap();
        let shown = person.sign_in(&format!("{page}/proposals/{first}"), "acme-approver").await.unwrap();
        let decided = person.submit(&shown, "/approve", &[]).await.unwrap();
        assert!(decided.body.contains("acme-approver approved it"), "{}", decided.body);
        let receipt = submitted(&agent, &first).await;
        tests::process::succeeded(&agent, receipt.text("operation_id")).await;

        // The same amount again: the command wants to hear that the person knows.
        let again = prepare(&agent, 1_000).await;
        let approve = ["approve", &again, "--as", "acme-approver", "--yes"];
        let unsaid = gateway.ran(&approve).await;
        assert!(unsaid.code == Some(1) && unsaid.stderr.contains("--acknowledge"), "{unsaid:?}");
        assert_eq!(submitted(&agent, &again).await.code(), "approval_required");
        let said = gateway.ran(&[&approve[..], &["--acknowledge"]].concat()).await;
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(submitted(&agent, &again).await.code(), "ok");
        agent.close().await;
    });
}

#[test]
fn a_rejected_or_revoked_proposal_cannot_be_submitted() {
    run(async {
        let folder = folder();
        let gateway = Process::start(folder.path(), 0).await;
        let agent = gateway.client("acme-agent").await;

        let rejected = prepare(&agent, 1_000).await;
        let ran = gateway.ran(&["reject", &rejected, "--as", "acme-junior", "--yes"]).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(submitted(&agent, &rejected).await.code(), "approval_rejected");

        let revoked = prepare(&agent, 2_000).await;
        for verb in ["approve", "revoke"] {
            let ran = gateway.ran(&[verb, &revoked, "--as", "acme-approver", "--yes"]).await;
            assert_eq!(ran.code, Some(0), "{ran:?}");
        }
        assert_eq!(submitted(&agent, &revoked).await.code(), "approval_revoked");
        agent.close().await;
    });
}

#[test]
fn where_nobody_can_be_asked_nobody_has_agreed() {
    run(async {
        let folder = folder();
        let gateway = Process::start(folder.path(), 0).await;
        let agent = gateway.client("acme-agent").await;
        let proposal = prepare(&agent, 1_000).await;
        for verb in ["approve", "reject", "revoke"] {
            let ran = gateway.ran(&[verb, &proposal, "--as", "acme-approver"]).await;
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
            assert!(ran.stderr.ends_with("error: nobody can be asked here; say --yes if a person has decided\n"));
        }
        assert_eq!(submitted(&agent, &proposal).await.code(), "approval_required");
        agent.close().await;
    });
}

#[test]
fn a_decision_that_is_refused_says_why_and_fails() {
    run(async {
        let folder = folder();
        let gateway = Process::start(folder.path(), 0).await;
        let agent = gateway.client("acme-agent").await;
        let proposal = prepare(&agent, 2_001).await;
        let absent = "prop_aaaaaaaaaaaaaaaaaaaaaaaaaa";
        for (proposal, persona, code) in [
            (proposal.as_str(), "acme-agent", "forbidden"),
            (&proposal, "acme-operator", "forbidden"),
            (&proposal, "acme-junior", "limit_exceeded"),
            (&proposal, "globex-approver", "not_found"),
            (absent, "acme-approver", "not_found"),
        ] {
            let ran = gateway.ran(&["approve", proposal, "--as", persona, "--yes"]).await;
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
            let last = ran.stderr.lines().last().unwrap();
            assert!(last.starts_with(&format!("error: {code}: ")), "{persona} {proposal}: {last}");
        }
        // What can be no proposal is asked of nobody.
        for proposal in ["", "not-a-proposal", "../tokens"] {
            let ran = gateway.ran(&["approve", proposal, "--as", "acme-approver", "--yes"]).await;
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
            assert!(ran.stderr.contains("for '<PROPOSAL>': expected: `prop_` followed by"), "{ran:?}");
        }
        assert_eq!(submitted(&agent, &proposal).await.code(), "approval_required");
        agent.close().await;
    });
}

#[test]
fn the_demonstration_reports_its_sixteen_steps_and_succeeds() {
    run(async {
        let ran = tests::process::ran(&["demo", "--json"]).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let steps: Vec<serde_json::Value> =
            ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(steps.len(), 16, "{steps:?}");
        for (place, step) in steps.iter().enumerate() {
            let members: Vec<_> = step.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(members, ["expected", "got", "ok", "step", "tool"]);
            assert_eq!((&step["step"], &step["ok"]), (&json!(place + 1), &json!(true)), "{step}");
            assert!(["tool", "expected", "got"].iter().all(|name| step[*name].is_string()), "{step}");
        }
    });
}
