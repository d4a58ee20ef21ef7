//! Rules about who may depend on whom.

use std::collections::BTreeSet;

use cargo_metadata::{DependencyKind, Package};

use crate::workspace::{folder, members};

/// What a member depends on, for its tests too.
fn dependencies(package: &Package) -> BTreeSet<String> {
    package.dependencies.iter().map(|dependency| dependency.name.clone()).collect()
}

/// The members in this folder, which must not be empty.
fn below(prefix: &str) -> Vec<Package> {
    let found: Vec<_> = members().into_iter().filter(|member| folder(member).starts_with(prefix)).collect();
    assert!(!found.is_empty(), "there are no members in {prefix}");
    found
}

fn names(packages: &[Package]) -> BTreeSet<String> {
    packages.iter().map(|package| package.name.to_string()).collect()
}

/// A function's trigger.
fn trigger(package: &Package) -> &str {
    package.metadata["countersign"]["trigger"].as_str().unwrap()
}

#[test]
fn the_kernel_depends_on_no_other_member() {
    let [kernel] = &below("shared/countersign")[..] else { panic!("one kernel") };
    let others = names(&members());
    assert_eq!(dependencies(kernel).intersection(&others).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn the_shared_crates_know_nothing_above_them_and_nothing_of_lambda() {
    let above: BTreeSet<_> =
        ["functions/", "infra/", "tests"].into_iter().flat_map(|prefix| names(&below(prefix))).collect();
    for package in below("shared/") {
        let kernel = package.name == "countersign";
        for dependency in dependencies(&package) {
            assert!(!above.contains(&dependency), "{} depends on {dependency}", package.name);
            // The kernel's host and ledger are the only places that speak to Lambda and to DynamoDB.
            let of_aws = ["lambda_", "lambda-", "aws_lambda_events", "aws-sdk-", "aws-config", "aws-credential-types"];
            let aws = of_aws.iter().any(|prefix| dependency.starts_with(prefix));
            assert!(kernel || !aws, "{} depends on {dependency}", package.name);
            // And events are for the workers alone.
            assert_ne!(dependency, "aws_lambda_events", "{}", package.name);
        }
    }
}

#[test]
fn a_domain_depends_on_the_kernel_and_on_no_other_domain() {
    let shared = names(&below("shared/"));
    for (package, allowed) in [("refunds", &["countersign"][..]), ("stripe", &["countersign", "refunds"])] {
        let [package] = &below(&format!("shared/{package}"))[..] else { panic!("one {package}") };
        let ours: BTreeSet<_> = dependencies(package).intersection(&shared).cloned().collect();
        assert_eq!(ours, allowed.iter().map(|name| (*name).to_owned()).collect());
    }
}

#[test]
fn functions_depend_on_shared_crates_and_never_on_each_other() {
    let shared = names(&below("shared/"));
    let others: BTreeSet<_> = names(&members()).difference(&shared).cloned().collect();
    for function in below("functions/") {
        let wrong: Vec<_> = dependencies(&function).intersection(&others).cloned().collect();
        assert_eq!(wrong, Vec::<String>::new(), "{} depends on them", function.name);
        assert!(dependencies(&function).contains("countersign"), "{}", function.name);
    }
}

#[test]
fn only_workers_can_reach_the_payment_provider() {
    let mut reach = Vec::new();
    for function in below("functions/") {
        let dependencies = dependencies(&function);
        let worker = ["stream", "schedule", "http"].contains(&trigger(&function));
        if dependencies.contains("stripe") {
            assert!(worker, "{} depends on stripe", function.name);
            reach.push(function.name.to_string());
        }
        // Whoever has a client for HTTP could send what it likes. The page asks the identity provider with one, and has
        // no key of a payment provider's.
        let asks = !function.metadata.to_string().contains("COUNTERSIGN_PROVIDER") && !dependencies.contains("stripe");
        assert!(asks || !dependencies.contains("reqwest"), "{} depends on reqwest", function.name);
    }
    assert!(reach.contains(&"dispatch_refund".to_owned()), "{reach:?}");
}

#[test]
fn every_member_takes_versions_and_lints_from_the_workspace() {
    for package in members() {
        let text = std::fs::read_to_string(&package.manifest_path).unwrap();
        let (mut section, mut inherits) = ("", false);
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                section = line;
            } else if section == "[lints]" {
                inherits |= line == "workspace = true";
            } else if section.ends_with("dependencies]") && line.contains('=') && !line.starts_with('#') {
                let inherited = line.contains(".workspace = true") || line.contains("workspace = true,");
                assert!(inherited, "{}: `{line}` names a version of its own", package.name);
            }
        }
        // Clippy's allowances for tests do not reach the helpers of an integration crate, so that has a table of its own.
        let test_code = ["explorer", "tests"].contains(&package.name.as_str());
        assert_eq!(inherits, !test_code, "{}: [lints] workspace = true", package.name);
    }
}

/// A test that is compiled with other features than the product would not test the product.
#[test]
fn no_member_adds_features_for_its_tests() {
    for package in members() {
        for dependency in &package.dependencies {
            let normal = package
                .dependencies
                .iter()
                .any(|other| other.kind == DependencyKind::Normal && other.name == dependency.name);
            let doubled = dependency.kind == DependencyKind::Development && normal;
            assert!(!doubled, "{} names {} for its tests once more", package.name, dependency.name);
        }
    }
}
