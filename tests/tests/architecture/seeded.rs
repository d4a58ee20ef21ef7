//! Rules about the seeded bugs: nothing that is deployed is ever built with them.

use std::collections::BTreeSet;

use crate::workspace::{functions, members};

const FEATURE: &str = "seeded_bugs";
/// Where they are written. A build with line tables names the file, whatever was inlined.
const SOURCE: &str = "countersign/src/seeded.rs";

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
            assert!(!text.contains(SOURCE), "{} is built with `{FEATURE}`", function.name);
            kernels += usize::from(text.contains("countersign/src/command.rs"));
        }
        // Files are named as this test expects.
        assert!(kernels > 0);
    });
}
