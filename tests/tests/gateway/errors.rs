//! What can go wrong on the command line: one sentence that says what to do, and an exit code.

use tests::process::{Process, Ran, folder, ran, taken_port};
use tests::run;

/// The command failed with this one sentence, and nothing on standard output.
fn says(ran: &Ran, sentence: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    assert_eq!(ran.stderr, format!("error: {sentence}\n"));
}

#[test]
fn a_port_in_use_is_named_with_what_to_do() {
    run(async {
        let (folder, (_listener, port)) = (folder(), taken_port().await);
        let ran = ran(&["--folder", folder.path().to_str().unwrap(), "--port", &port.to_string()]).await;
        says(&ran, &format!("port {port} is in use; stop what listens there, or choose another one with --port"));
    });
}

#[test]
fn what_is_said_to_a_command_that_serves_nothing_is_not_ignored() {
    run(async {
        for flags in [&["--memory"][..], &["--port", "8799"]] {
            for command in [&["serve"][..], &["holds"], &["demo"]] {
                let ran = ran(&[flags, command].concat()).await;
                assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
                assert!(ran.stderr.contains("give them after `serve`"), "{ran:?}");
            }
        }
    });
}

#[test]
fn a_second_gateway_on_a_folder_is_turned_away_and_the_first_one_serves_on() {
    run(async {
        let folder = folder();
        let gateway = Process::start(folder.path(), 0).await;
        let path = folder.path().to_str().unwrap();
        let second = ran(&["--folder", path, "--port", "0"]).await;
        let what_to_do = "stop it, or give this one another --folder";
        says(&second, &format!("another gateway runs in `{path}`; {what_to_do}"));
        let agent = gateway.client("acme-agent").await;
        assert!(!agent.tools().await.unwrap().is_empty());
        agent.close().await;
    });
}

#[test]
fn where_no_gateway_runs_the_subcommands_say_how_to_start_one() {
    run(async {
        let folder = folder();
        let path = folder.path().to_str().unwrap();
        let sentence =
            format!("no gateway runs in `{path}`; start one with `cargo local`, or name its folder with --folder");
        let proposal = "prop_aaaaaaaaaaaaaaaaaaaaaaaaaa";
        says(&ran(&["--folder", path, "token", "acme-agent"]).await, &sentence);
        for verb in ["approve", "reject", "revoke"] {
            says(&ran(&["--folder", path, verb, proposal, "--as", "acme-approver", "--yes"]).await, &sentence);
        }
        let word = ["--outcome", "failed", "--evidence", "seen", "--yes", "--as", "acme-operator"];
        let operation = "op_aaaaaaaaaaaaaaaaaaaaaaaaaa";
        says(&ran(&[&["--folder", path, "resolve", operation], &word[..]].concat()).await, &sentence);
        says(&ran(&["--folder", path, "attention", "--as", "acme-operator"]).await, &sentence);
        for verb in ["hold", "release"] {
            says(&ran(&["--folder", path, verb, "--as", "acme-operator", "--reason", "x"]).await, &sentence);
        }
        says(&ran(&["--folder", path, "holds"]).await, &sentence);
        // A gateway that was killed leaves its note behind.
        let mut gateway = Process::start(folder.path(), 0).await;
        gateway.end("KILL").await;
        assert!(folder.path().join("run.json").exists());
        says(&ran(&["--folder", path, "token", "acme-agent"]).await, &sentence);
    });
}

#[test]
fn an_unknown_persona_is_told_who_there_is() {
    run(async {
        let folder = folder();
        let gateway = Process::start(folder.path(), 0).await;
        let who = "acme-agent, acme-approver, acme-junior, acme-owner, acme-clerk-approver, acme-operator, \
            globex-agent, globex-approver";
        let proposal = "prop_aaaaaaaaaaaaaaaaaaaaaaaaaa";
        for arguments in [
            &["token", "mallory"][..],
            &["approve", proposal, "--as", "mallory", "--yes"],
            &["revoke", proposal, "--as", "mallory", "--yes"],
            &["attention", "--as", "mallory"],
            &["hold", "--as", "mallory", "--reason", "x"],
            &["release", "--as", "mallory", "--reason", "x"],
        ] {
            let ran = gateway.ran(arguments).await;
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (Some(1), "", 1), "{ran:?}");
            let start = format!("error: not_found: there is no such persona; choose one of: {who}");
            assert!(ran.stderr.starts_with(&start), "{}", ran.stderr);
        }
    });
}
