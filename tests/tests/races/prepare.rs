//! Preparations at once.

use std::collections::BTreeSet;

use countersign::bounded::Currency;
use futures::future::join_all;
use tests::app::{code, prepare};
use tests::{rounds, run, shared};

#[test]
fn identical_preparations_at_once_are_one_proposal() {
    run(async {
        let app = shared().await;
        rounds(25, async |_| {
            let order = app.order("acme", Currency::Eur, 1_000).await;
            let agent = app.direct("acme-agent");
            let answers = join_all((0..8).map(|_| agent.call("prepare_refund", prepare(&order, 1_000)))).await;
            assert!(answers.iter().all(|answer| code(answer) == "ok"), "{answers:?}");
            let proposals: BTreeSet<_> = answers.iter().map(|answer| answer["proposal_id"].as_str().unwrap()).collect();
            assert_eq!(proposals.len(), 1, "{answers:?}");
            assert_eq!(answers.iter().filter(|answer| answer["reused"] == false).count(), 1, "{answers:?}");
            assert_eq!(app.balances(&order).await, (1_000, 0, 0));
        })
        .await;
    });
}
