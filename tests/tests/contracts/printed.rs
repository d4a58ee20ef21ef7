//! Contracts as the binaries print them, and as they were approved.

use countersign::digest::Digest;
use local::binaries::{self, Trigger};
use serde_json::Value;
use tests::run;

use crate::schema::Contract;

/// Every tool's contract, by tool, as text.
pub(crate) async fn texts() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for function in binaries::build(|_| ()).await.unwrap() {
        if function.trigger == Trigger::Tool {
            texts.push((function.name.clone(), binaries::contract(&function).await.unwrap()));
        }
    }
    assert!(texts.len() >= 4, "{texts:?}");
    texts
}

/// Every tool's contract.
pub(crate) async fn contracts() -> Vec<Contract> {
    let read = |(tool, text): (String, String)| -> Contract {
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("the proof cannot read `{tool}`: {error}"))
    };
    texts().await.into_iter().map(read).collect()
}

fn definitions(file: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../tool-definitions/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn every_contract_is_the_one_in_its_file_and_the_one_that_was_approved() {
    run(async {
        let registry: Value = serde_json::from_slice(&definitions("registry.json")).unwrap();
        let approved = registry["tools"].as_object().unwrap();
        let texts = texts().await;
        assert_eq!(approved.keys().collect::<Vec<_>>(), texts.iter().map(|(tool, _)| tool).collect::<Vec<_>>());
        for (tool, text) in texts {
            let same = definitions(&format!("{tool}.json")) == text.as_bytes();
            assert!(same, "{tool} is not what its file says; `cargo registry check` names the difference");
            let digest = Digest::of_bytes(text.as_bytes()).to_string();
            assert_eq!(approved[&tool]["digest"], digest, "{tool}: nobody has approved this contract");
        }
    });
}
