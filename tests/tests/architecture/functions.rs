//! Rules about functions: one name everywhere, the environment that each is given, and times that fit each other.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cargo_metadata::Package;
use countersign::tool::{full_name, target};
use local::binaries::{Function, Trigger};
use serde_json::Value;

use crate::workspace::{folder, functions, sources};

fn declared(package: &Package) -> &Value {
    let declared = &package.metadata["countersign"];
    assert!(declared.is_object(), "{} has no [package.metadata.countersign]", package.name);
    declared
}

fn env(package: &Package) -> BTreeSet<&str> {
    declared(package)["env"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

fn trigger(package: &Package) -> &str {
    declared(package)["trigger"].as_str().unwrap()
}

fn timeout(package: &Package) -> Duration {
    Duration::from_secs(declared(package)["timeout_s"].as_u64().unwrap())
}

/// A constant number of seconds in the sources of a crate: `const NAME: Duration = Duration::from_secs(90);`.
fn seconds(file: &str, name: &str) -> Duration {
    let (folder, file) = file.rsplit_once('/').unwrap();
    let (_, text) = sources(folder).into_iter().find(|(path, _)| path.ends_with(file)).unwrap();
    let start = format!("const {name}: Duration = Duration::from_secs(");
    let line = text.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_else(|| panic!("{file}: {name}"));
    let seconds = line.strip_suffix(");").unwrap().split('*').map(|factor| factor.trim().parse::<u64>().unwrap());
    Duration::from_secs(seconds.product())
}

#[test]
fn a_function_has_one_name_everywhere() {
    for package in functions() {
        let name = package.name.as_str();
        assert_eq!(folder(&package).rsplit('/').next(), Some(name));
        assert_eq!(folder(&package).split('/').count(), 3, "functions/<domain>/<function>: {}", folder(&package));
        let targets: Vec<_> = package.targets.iter().map(|target| (target.name.as_str(), target.is_bin())).collect();
        assert_eq!(targets, [(name, true)], "{name} is one binary of its own name");
        let files: BTreeSet<_> = sources(&format!("{}/src", folder(&package)))
            .into_iter()
            .map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert!(files.contains("main.rs") && files.contains(&format!("{name}.rs")), "{name}: {files:?}");
    }
}

#[test]
fn a_tools_contract_and_its_target_carry_the_same_name_and_fit_a_gateway() {
    tests::run(async {
        let built = local::binaries::build(|_| ()).await.unwrap();
        let tools: Vec<_> = built.iter().filter(|function| function.trigger == Trigger::Tool).collect();
        assert!(!tools.is_empty());
        for function in tools {
            let contract: Value = serde_json::from_str(&local::binaries::contract(function).await.unwrap()).unwrap();
            assert_eq!(contract["name"], function.name);
            let target = target(&function.name);
            assert!(target.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{target}");
            assert_eq!(full_name(&function.name), format!("{target}___{}", function.name));
            assert!(full_name(&function.name).len() <= 64, "{}", full_name(&function.name));
        }
    });
}

#[test]
fn the_binaries_of_a_plain_build_are_those_of_the_manifests() {
    tests::run(async {
        let built: Vec<Function> = local::binaries::build(|_| ()).await.unwrap();
        let built: BTreeMap<_, _> = built.iter().map(|function| (function.name.as_str(), function.timeout)).collect();
        let packages = functions();
        assert_eq!(built, packages.iter().map(|package| (package.name.as_str(), timeout(package))).collect());
    });
}

/// The variables of a running process (<https://man7.org/linux/man-pages/man5/proc_pid_environ.5.html>).
fn environment(process: u32) -> BTreeSet<String> {
    let text = String::from_utf8(std::fs::read(format!("/proc/{process}/environ")).unwrap()).unwrap();
    text.split('\0').filter_map(|variable| Some(variable.split_once('=')?.0.to_owned())).collect()
}

#[test]
fn a_function_is_given_the_settings_that_it_names_and_no_others() {
    // The names of a token's claims, where they are not those that the local issuer uses.
    const OPTIONAL: [&str; 2] = ["COUNTERSIGN_CLAIMS", "COUNTERSIGN_PAGE_CLAIMS"];
    tests::run(async {
        let app = tests::shared().await;
        let order = app.order("acme", countersign::bounded::Currency::Eur, 1_000).await;
        let agent = app.client("acme-agent").await;
        agent.call("get_order_summary", serde_json::json!({ "order_id": order.id })).await.unwrap();
        agent.close().await;
        let refund = app.submitted(&order, 1_000).await;
        app.until(&refund.operation, "succeeded").await;
        for package in functions() {
            // Whatever it makes of such a call, there is a process then.
            let _ = app.gateway.lambda().invoke(&package.name, "{}".into(), None).await;
            let process = app.gateway.lambda().processes(&package.name)[0];
            let given = environment(process);
            let ours: BTreeSet<_> =
                given.iter().map(String::as_str).filter(|name| name.starts_with("COUNTERSIGN_")).collect();
            let named: BTreeSet<_> = env(&package).into_iter().filter(|name| !OPTIONAL.contains(name)).collect();
            assert_eq!(ours, named, "{}", package.name);
            // Nor anything of the developer's shell.
            for name in ["HOME", "PATH", "USER"] {
                assert!(!given.contains(name), "{} sees {name}", package.name);
            }
        }
    });
}

#[test]
fn a_private_key_is_where_it_has_to_be_and_nowhere_else() {
    let holders = |setting: &str| -> Vec<String> {
        let packages = functions();
        let holders = packages.iter().filter(|package| env(package).contains(setting));
        holders.map(|package| package.name.to_string()).collect()
    };
    assert_eq!(holders("COUNTERSIGN_PROVIDER_KEY"), ["dispatch_refund", "reconcile_refunds", "refund_webhook"]);
    assert_eq!(holders("COUNTERSIGN_WEBHOOK_SECRET"), ["refund_webhook"]);
    assert_eq!(holders("COUNTERSIGN_CALLER_SIGNING_KEY"), ["interceptor"]);
    // People decide there and nowhere else; what seals their sessions is nobody else's business either.
    assert_eq!(holders("COUNTERSIGN_CONSENT_SIGNING_KEY"), ["approval_page"]);
    assert_eq!(holders("COUNTERSIGN_STATE_KEY"), ["approval_page"]);
    for package in functions() {
        for name in env(&package) {
            let private = ["SIGNING", "SECRET", "PRIVATE"].iter().any(|word| name.contains(word));
            let known =
                ["COUNTERSIGN_CALLER_SIGNING_KEY", "COUNTERSIGN_CONSENT_SIGNING_KEY", "COUNTERSIGN_WEBHOOK_SECRET"]
                    .contains(&name);
            assert!(!private || known, "{}: {name}", package.name);
        }
    }
}

#[test]
fn a_tool_reaches_the_tables_and_verifies_its_caller_and_has_nothing_more() {
    for package in functions().iter().filter(|package| trigger(package) == "tool") {
        let all = [
            "COUNTERSIGN_CALLER_KEYS",
            "COUNTERSIGN_CONSENTS_TABLE",
            "COUNTERSIGN_GATEWAY_ID",
            "COUNTERSIGN_LEDGER_TABLE",
            "COUNTERSIGN_TIMEOUT_S",
        ];
        let mut expected = BTreeSet::from(all);
        if package.name == "submit_refund" {
            expected.insert("COUNTERSIGN_CONSENT_KEYS");
        }
        assert_eq!(env(package), expected, "{}", package.name);
    }
}

#[test]
fn a_worker_outlives_the_providers_answer_and_its_lease_outlives_the_worker() {
    let provider = seconds("shared/stripe/src/wire.rs", "REQUEST");
    assert!(provider < stripe::LOOKUP);
    let lease = seconds("shared/countersign/src/delivery.rs", "LEASE");
    assert!(provider >= Duration::from_secs(5), "{provider:?}");
    let mut workers = 0;
    for package in functions() {
        let sends = package.dependencies.iter().any(|dependency| dependency.name == "stripe");
        if sends {
            workers += 1;
            assert!(stripe::LOOKUP < timeout(&package) && timeout(&package) < lease, "{}", package.name);
        }
    }
    assert!(workers >= 1);
    assert!(provider < seconds("functions/refunds/dispatch_refund/src/dispatch_refund.rs", "LEAST"));
}
