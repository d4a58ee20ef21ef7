//! Submissions at once.

use countersign::bounded::Currency;
use futures::future::join_all;
use tests::app::{code, key, submit};
use tests::{run, shared};

#[test]
fn sixty_four_submissions_with_one_key_are_one_operation_and_one_receipt() {
    run(async {
        let app = shared().await;
        let order = app.order("acme", Currency::Eur, 10_000).await;
        let (proposal, key) = (app.approved(&order, 10_000).await, key());
        let agent = app.direct("acme-agent");
        let answers = join_all((0..64).map(|_| agent.call("submit_refund", submit(&proposal, &key)))).await;
        let receipt = |answer: &serde_json::Value| {
            let mut receipt = answer.clone();
            for moving in ["state", "next_step", "replayed"] {
                receipt.as_object_mut().unwrap().remove(moving);
            }
            receipt
        };
        for answer in &answers {
            assert_eq!(code(answer), "ok", "{answer}");
            assert_eq!(receipt(answer), receipt(&answers[0]));
        }
        assert_eq!(answers.iter().filter(|answer| answer["replayed"] == false).count(), 1);
        let operation = answers[0]["operation_id"].as_str().unwrap();
        app.until(operation, "succeeded").await;
        assert_eq!(app.gateway.provider().effects(order.payment.as_str()).len(), 1);
        let now = app.order_now("acme", &order.id).await;
        assert_eq!((now.refundable_minor.get(), now.reserved_minor.get(), now.refunded_minor.get()), (0, 0, 10_000));
    });
}
