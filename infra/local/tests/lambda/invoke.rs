//! The Lambda stand-in, seen by a function and by its caller: processes, limits, errors, headers.

use countersign::clock::wall_clock;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use futures::future::join_all;
use local::binaries::{Function, Trigger};
use local::lambda::{Invoked, Lambda, MAX_CLIENT_CONTEXT_BYTES, MAX_PAYLOAD_BYTES, MAX_PROCESSES, Refusal};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

pub(crate) type Lines = Arc<Mutex<Vec<String>>>;

/// Built by `cargo test` beside the tests, because it is an example of the same package.
fn fixture() -> PathBuf {
    let deps = std::env::current_exe().unwrap();
    let path = deps.ancestors().nth(2).unwrap().join("examples").join("fixture_function");
    assert!(path.exists(), "run `cargo test -p local`, which also builds the examples");
    path
}

fn function(timeout: Duration) -> Function {
    Function {
        name: "fixture".to_owned(),
        trigger: Trigger::Tool,
        timeout,
        memory_mb: 256,
        env: vec!["COUNTERSIGN_LEDGER_TABLE".to_owned()],
        tables: Vec::new(),
        schedule: None,
        path: fixture(),
    }
}

pub(crate) async fn start(timeout: Duration, variables: &[(&str, &str)]) -> (Lambda, Lines) {
    let lines = Lines::default();
    let written = Arc::clone(&lines);
    let given =
        |_: &Function| variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let log = Arc::new(move |_: &str, line: &str| written.lock().unwrap().push(line.to_owned()));
    (Lambda::start(vec![function(timeout)], given, log).await.unwrap(), lines)
}

async fn patient() -> Lambda {
    start(Duration::from_secs(60), &[]).await.0
}

async fn call(lambda: &Lambda, payload: Value) -> Invoked {
    lambda.invoke("fixture", payload.to_string().into(), None).await
}

async fn echo(lambda: &Lambda) -> Value {
    answer(call(lambda, json!({"do": "echo"})).await)
}

fn answer(invoked: Invoked) -> Value {
    let Invoked::Answered(answer) = invoked else { panic!("{invoked:?}") };
    serde_json::from_slice(&answer).unwrap()
}

fn error(invoked: Invoked) -> (String, String) {
    let Invoked::FunctionError { kind, message } = invoked else { panic!("{invoked:?}") };
    (kind, message)
}

#[tokio::test]
async fn sixteen_calls_at_once_share_eight_processes() {
    let lambda = patient().await;
    let gate = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = gate.local_addr().unwrap().port();
    let calls = join_all((0..16).map(|_| call(&lambda, json!({"do": "wait", "port": port}))));
    let pass = async {
        for _round in 0..2 {
            let mut waiting = Vec::new();
            while waiting.len() < MAX_PROCESSES {
                waiting.push(gate.accept().await.unwrap().0);
            }
            assert_eq!(lambda.processes("fixture").len(), MAX_PROCESSES);
            for mut call in waiting {
                call.write_all(b"!").await.unwrap();
            }
        }
    };
    let (outcomes, ()) = futures::future::join(calls, pass).await;
    assert!(outcomes.iter().all(|outcome| *outcome == Invoked::Answered(Bytes::from_static(b"null"))), "{outcomes:?}");
    assert_eq!(lambda.cold_starts("fixture"), MAX_PROCESSES);
}

#[tokio::test]
async fn a_warm_process_is_used_again() {
    let lambda = patient().await;
    let (first, second) = (echo(&lambda).await, echo(&lambda).await);
    assert_eq!(first["pid"], second["pid"]);
    assert_eq!(lambda.cold_starts("fixture"), 1);
}

#[tokio::test]
async fn a_call_that_hangs_is_killed_at_its_timeout_and_the_next_works() {
    let (lambda, _) = start(Duration::from_secs(1), &[]).await;
    let hung = echo(&lambda).await["pid"].clone();
    let (kind, message) = error(call(&lambda, json!({"do": "hang"})).await);
    assert_eq!(kind, "Sandbox.Timedout");
    assert!(message.ends_with("Task timed out after 1.00 seconds"), "{message}");
    assert_eq!(lambda.processes("fixture"), Vec::<u32>::new());
    assert_ne!(echo(&lambda).await["pid"], hung);
}

#[tokio::test]
async fn a_process_that_exits_during_a_call_fails_that_call_only() {
    let lambda = patient().await;
    let (kind, message) = error(call(&lambda, json!({"do": "exit"})).await);
    assert_eq!(kind, "Runtime.ExitError");
    assert!(message.contains("exit status: 3"), "{message}");
    echo(&lambda).await;
    assert_eq!(lambda.cold_starts("fixture"), 2);
}

#[tokio::test]
async fn a_process_that_exits_between_calls_fails_none() {
    let lambda = patient().await;
    for _ in 0..5 {
        assert_eq!(answer(call(&lambda, json!({"do": "answer and exit"})).await), Value::Null);
    }
    assert_eq!(lambda.cold_starts("fixture"), 5);
}

#[tokio::test]
async fn an_init_error_reaches_the_caller() {
    let (lambda, _) = start(Duration::from_secs(60), &[("FIXTURE_INIT", "error")]).await;
    let failure = error(call(&lambda, json!({})).await);
    assert_eq!(failure, ("NoKeys".to_owned(), "the key set is empty".to_owned()));
}

#[tokio::test]
async fn an_exit_before_the_first_poll_reaches_the_caller() {
    let (lambda, _) = start(Duration::from_secs(60), &[("FIXTURE_INIT", "exit")]).await;
    let (kind, message) = error(call(&lambda, json!({})).await);
    assert_eq!(kind, "Runtime.ExitError");
    assert!(message.contains("exit status: 4"), "{message}");
}

#[tokio::test]
async fn a_binary_that_is_not_there_is_an_error_of_the_call() {
    let mut missing = function(Duration::from_secs(1));
    missing.path = PathBuf::from("/no/such/function");
    let lambda = Lambda::start(vec![missing], |_| Vec::new(), Arc::new(|_, _| {})).await.unwrap();
    assert_eq!(error(call(&lambda, json!({})).await).0, "Runtime.InvalidEntrypoint");
}

#[tokio::test]
async fn a_handlers_error_arrives_as_it_was_reported() {
    let lambda = patient().await;
    let failure = error(call(&lambda, json!({"do": "fail"})).await);
    assert_eq!(failure, ("Broken".to_owned(), "as asked".to_owned()));
    echo(&lambda).await;
    assert_eq!(lambda.cold_starts("fixture"), 1);
}

#[tokio::test]
async fn the_limits_are_exact_and_a_too_large_answer_costs_no_process() {
    let lambda = patient().await;
    let largest = call(&lambda, json!({"do": "fill", "bytes": MAX_PAYLOAD_BYTES})).await;
    assert!(matches!(largest, Invoked::Answered(answer) if answer.len() == MAX_PAYLOAD_BYTES));
    let (kind, _) = error(call(&lambda, json!({"do": "fill", "bytes": MAX_PAYLOAD_BYTES + 1})).await);
    assert_eq!(kind, "Function.ResponseSizeTooLarge");
    echo(&lambda).await;
    assert_eq!(lambda.cold_starts("fixture"), 1);

    let mut payload = br#"{"do":"fill","bytes":1}"#.to_vec();
    payload.resize(MAX_PAYLOAD_BYTES, b' ');
    assert_eq!(answer(lambda.invoke("fixture", payload.clone().into(), None).await), json!(1));
    payload.push(b' ');
    let refused = lambda.invoke("fixture", payload.into(), None).await;
    assert_eq!(refused, Invoked::Refused(Refusal::PayloadTooLarge(MAX_PAYLOAD_BYTES + 1)));
}

#[tokio::test]
async fn the_deadline_is_the_timeout_from_when_the_call_is_taken() {
    let lambda = patient().await;
    for _temperature in ["cold", "warm"] {
        let before = wall_clock().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let echoed = echo(&lambda).await;
        let after = wall_clock().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let deadline: u128 = echoed["headers"]["lambda-runtime-deadline-ms"].as_str().unwrap().parse().unwrap();
        assert!((before + 60_000..=after + 60_000).contains(&deadline), "{before} {deadline} {after}");
    }
}

#[tokio::test]
async fn the_client_context_arrives_byte_for_byte() {
    let lambda = patient().await;
    let every_byte = (0x20..=0xff).filter(|byte| *byte != 0x7f).chain([b'\t', b'.']).collect::<Vec<u8>>();
    // The header itself has no blanks around it.
    for context in [
        br#"{"custom":{"headers":{"x":"y"}}}"#.to_vec(),
        every_byte[1..].to_vec(),
        vec![b'x'; MAX_CLIENT_CONTEXT_BYTES],
    ] {
        let payload = Bytes::from_static(b"{}");
        let echoed = answer(lambda.invoke("fixture", payload, Some(context.clone().into())).await);
        let arrived = echoed["headers"]["lambda-runtime-client-context"].as_str().unwrap();
        assert_eq!(arrived.chars().map(|c| u8::try_from(c).unwrap()).collect::<Vec<u8>>(), context);
    }
    assert_eq!(echo(&lambda).await["headers"].get("lambda-runtime-client-context"), None);
}

#[tokio::test]
async fn a_client_context_that_lambda_would_not_take_is_refused() {
    let lambda = patient().await;
    let invoke = |context: Vec<u8>| lambda.invoke("fixture", Bytes::from_static(b"{}"), Some(context.into()));
    let length = MAX_CLIENT_CONTEXT_BYTES + 1;
    assert_eq!(invoke(vec![b'x'; length]).await, Invoked::Refused(Refusal::ClientContextTooLarge(length)));
    assert_eq!(invoke(b"{\n}".to_vec()).await, Invoked::Refused(Refusal::ClientContextNotOneLine));
    assert_eq!(lambda.cold_starts("fixture"), 0);
}

#[tokio::test]
async fn a_process_sees_lambdas_variables_and_what_it_declared_and_nothing_else() {
    let given = [
        ("COUNTERSIGN_LEDGER_TABLE", "ledger"),
        ("COUNTERSIGN_PROVIDER_KEY", "undeclared"),
        ("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:1"),
        ("AWS_LAMBDA_FUNCTION_NAME", "reserved"),
    ];
    let (lambda, _) = start(Duration::from_secs(60), &given).await;
    let seen = echo(&lambda).await["variables"].clone();
    assert_eq!(seen["COUNTERSIGN_LEDGER_TABLE"], "ledger");
    assert_eq!(seen.get("COUNTERSIGN_PROVIDER_KEY"), None);
    assert_eq!(seen["AWS_ENDPOINT_URL_DYNAMODB"], "http://127.0.0.1:1");
    assert_eq!(seen["AWS_LAMBDA_FUNCTION_NAME"], "fixture");
    assert_eq!(seen["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"], "256");
    assert_eq!(seen.get("PATH"), None);
    assert_eq!(seen.get("HOME"), None);
}

#[tokio::test]
async fn what_a_function_writes_reaches_the_log() {
    let (lambda, lines) = start(Duration::from_secs(60), &[]).await;
    echo(&lambda).await;
    lambda.shutdown().await;
    let lines = lines.lock().unwrap();
    assert!(lines.iter().any(|line| line == "ready"), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("echoing")), "{lines:?}");
}

#[tokio::test]
async fn an_answer_to_another_invocation_is_refused() {
    let lambda = patient().await;
    assert_eq!(answer(call(&lambda, json!({"do": "wrong id"})).await), json!(400));
}

#[tokio::test]
async fn an_unknown_function_is_refused() {
    let lambda = patient().await;
    let refused = lambda.invoke("other", Bytes::new(), None).await;
    assert_eq!(refused, Invoked::Refused(Refusal::UnknownFunction("other".to_owned())));
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_end_its_call() {
    let lambda = patient().await;
    let gate = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = gate.local_addr().unwrap().port();
    let running = {
        let abandoned = call(&lambda, json!({"do": "wait", "port": port}));
        tokio::select! {
            accepted = gate.accept() => accepted.unwrap().0,
            outcome = abandoned => panic!("{outcome:?}"),
        }
    };
    // It still holds its process, so this call needs another.
    echo(&lambda).await;
    assert_eq!(lambda.cold_starts("fixture"), 2);
    let mut running = running;
    running.write_all(b"!").await.unwrap();
}

#[tokio::test]
async fn a_shutdown_ends_every_process_and_refuses_further_calls() {
    let lambda = patient().await;
    let gate = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = gate.local_addr().unwrap().port();
    echo(&lambda).await;
    let during = call(&lambda, json!({"do": "wait", "port": port}));
    let stop = async {
        let _running = gate.accept().await.unwrap();
        lambda.shutdown().await;
    };
    let (cut, ()) = futures::future::join(during, stop).await;
    assert_eq!(error(cut).0, "Runtime.ExitError");
    assert_eq!(lambda.processes("fixture"), Vec::<u32>::new());
    assert_eq!(call(&lambda, json!({})).await, Invoked::Refused(Refusal::ShuttingDown));
}
