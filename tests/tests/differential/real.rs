//! The changes of the product's own commands, as random schedules bring them about.

use std::time::Instant;

use explorer::scenario;
use explorer::search::changes;
use explorer::telling::{say, setting};
use tests::run;

use crate::both::{Both, Tables};

#[test]
fn what_the_products_commands_change_means_the_same_to_both() {
    run(async {
        let (seed, histories) =
            (setting("COUNTERSIGN_SEED").unwrap_or(20_261_201), setting("COUNTERSIGN_HISTORIES").unwrap_or(150));
        let began = Instant::now();
        let (mut done, mut lost) = (0, 0);
        for history in seed..seed + histories {
            // The scenarios share their names for things, so each has tables of its own.
            let tables = Tables::new().await;
            let why = format!("again with COUNTERSIGN_SEED={history} COUNTERSIGN_HISTORIES=1");
            let mut both = Both::new(&tables);
            let scenarios: Vec<_> = scenario::EXHAUSTED.iter().chain([&scenario::EVERYTHING]).collect();
            let scenario = scenarios[usize::try_from(history).unwrap() % scenarios.len()];
            let (records, changes) = changes(scenario, history);
            for (key, item) in records {
                both.put(key, item).await;
            }
            for change in &changes {
                both.commit(change, &why).await;
            }
            (done, lost) = (done + both.done, lost + both.lost);
        }
        say(&format!(
            "differential: {histories} histories of the product's own from seed {seed}: {done} changes made, {lost} lost, {:.1} s",
            began.elapsed().as_secs_f64()
        ));
        assert!(histories < 100 || (done > 0 && lost > 0));
    });
}
