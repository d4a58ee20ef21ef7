//! The walk: each case of each contract goes straight to the real function, past the gateway's own validation.

use std::collections::{BTreeMap, BTreeSet};

use tests::run;
use tests::watched::Watch;

use crate::cases::{bounds, cases};
use crate::printed::contracts;
use crate::schema::Contract;

/// Sends every case, and gives what was not as it has to be.
async fn walk(watch: &Watch, contract: &Contract) -> Vec<String> {
    let agent = watch.app.direct("acme-agent");
    let mut wrong = Vec::new();
    for case in cases(contract) {
        let watched = watch.bytes(&agent, &contract.name, case.payload.clone()).await;
        let right = match case.refused.as_deref() {
            None => watched.is_taken(),
            // Without any member, any one of those that are required may be named.
            Some("") => contract.input_schema.required.iter().any(|name| watched.is_refused(name)),
            Some(field) => watched.is_refused(field),
        };
        if !right {
            let shown: String = case.payload.trim_start().chars().take(200).collect();
            wrong.push(format!("{} {} {shown}: {:?}", case.field, case.bound, watched.summary()));
        }
    }
    wrong
}

#[test]
fn every_bound_is_taken_and_what_is_beyond_is_refused_by_its_name_without_a_database_request() {
    run(async {
        let watch = Watch::new().await;
        for contract in contracts().await {
            let wrong = walk(&watch, &contract).await;
            assert!(wrong.is_empty(), "{}: {} cases\n{}", contract.name, wrong.len(), wrong.join("\n"));
        }
        assert_eq!(watch.panics(), Vec::<String>::new());
    });
}

#[test]
fn no_stated_bound_is_without_a_case_on_it_and_a_case_beyond_it() {
    run(async {
        for contract in contracts().await {
            let mut seen: BTreeMap<(String, &str), BTreeSet<bool>> = BTreeMap::new();
            for case in cases(&contract) {
                seen.entry((case.field, case.bound)).or_default().insert(case.refused.is_some());
            }
            let schema = &contract.input_schema;
            for (name, rules) in &schema.properties {
                for bound in bounds(rules) {
                    let both = seen.get(&(name.clone(), bound)).is_some_and(|kinds| kinds.len() == 2);
                    assert!(both, "{}: `{bound}` of `{name}` has no case on it and beyond it", contract.name);
                }
            }
            assert!(!schema.required.is_empty(), "{}", contract.name);
        }
    });
}
