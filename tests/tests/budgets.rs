//! Budgets: what each kind of call costs, held against a table that is read and changed by hand.

#[path = "budgets/phases.rs"]
mod phases;
#[path = "budgets/row.rs"]
mod row;

use std::collections::{BTreeMap, BTreeSet};

use row::{Row, table};
use tests::{App, run};

#[test]
fn each_phase_of_each_tool_costs_exactly_what_the_table_says() {
    run(async {
        let app = App::quiet_and_tapped().await;
        let seen = phases::all(&app).await;
        app.stop().await;
        for row in &seen {
            println!("{row}");
        }
        let expected: BTreeMap<_, _> = table().into_iter().map(|row| (row.of(), row)).collect();
        let mut wrong = Vec::new();
        for row in &seen {
            match expected.get(&row.of()) {
                Some(expected) if expected == row => {}
                Some(expected) => wrong.push(format!("expected {expected}\n    seen {row}")),
                None => wrong.push(format!("not in the table: {row}")),
            }
        }
        let seen: BTreeSet<_> = seen.iter().map(Row::of).collect();
        wrong.extend(expected.keys().filter(|of| !seen.contains(of)).map(|of| format!("nothing measures {of:?}")));
        assert!(wrong.is_empty(), "tests/tests/budgets/table.md and what was seen differ:\n{}", wrong.join("\n"));
    });
}

#[test]
fn a_refused_input_costs_nothing_in_every_tool_and_for_an_operator() {
    let free: Vec<_> = table().into_iter().filter(|row| row.phase == "refused input").collect();
    assert_eq!(free.len(), 6);
    for row in free {
        assert_eq!((row.requests.as_str(), row.read_units, row.write_units), ("none", 0.0, 0.0), "{row}");
    }
}
