//! Rules about the seeded bugs: nothing that is deployed is ever built with them.

use std::collections::BTreeSet;

use crate::workspace::{functions, members};

const FEATURE: &str = "seeded_bugs";
/// What the symbols of their module have in common, and those of one that every function has:
/// <https://doc.rust-lang.org/rustc/symbol-mangling/v0.html>.
const SEEDED: &str = "countersign6seeded";
const COMMAND: &str = "countersign7command";

#[test]
fn only_the_explorer_can_turn_seeded_bugs_on_and_never_by_default() {
    let mut holders = BTreeSet::new();
    for package in members() {
        if package.features.contains_key(FEATURE) {
            holders.insert(package.name.to_string());
        }
        for (feature, turns_on) in &package.features {
            let seeds = turns_on.iter().any(|other| other.contains(FEATURE));
            assert!(!seeds || feature == FEATURE, "{}: `{feature}` plants bugs", package.name);
        }
        for dependency in &package.dependencies {
            assert!(!dependency.features.iter().any(|feature| feature == FEATURE), "{}", package.name);
        }
    }
    assert_eq!(holders, BTreeSet::from(["countersign".to_owned(), "explorer".to_owned()]));
    for package in functions() {
        assert!(package.dependencies.iter().all(|dependency| dependency.name != "explorer"), "{}", package.name);
    }
}

#[test]
fn no_function_holds_a_seeded_bug() {
    tests::run(async {
        let built = local::binaries::build(|_| ()).await.unwrap();
        assert!(built.len() >= 6, "{built:?}");
        let mut kernels = 0;
        for function in &built {
            let bytes = std::fs::read(&function.path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(SEEDED), "{} is built with `{FEATURE}`", function.name);
            kernels += usize::from(text.contains(COMMAND));
        }
        // Symbols are there, and read as this test expects.
        assert!(kernels >= 6, "{kernels}");
    });
}
