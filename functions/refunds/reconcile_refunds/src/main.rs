//! The Lambda function `reconcile_refunds`.

mod reconcile_refunds;

use countersign::config::Config;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use reconcile_refunds::ReconcileRefunds;
use stripe::Stripe;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    countersign::host::start_log();
    let config = Config::from_environment();
    let worker = ReconcileRefunds { ledger: config.ledger()?, provider: Stripe::from_config(&config)? };
    worker.ledger.warm().await;
    let worker = &worker;
    run(service_fn(move |event: LambdaEvent<_>| worker.take(event))).await
}
