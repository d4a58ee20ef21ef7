//! The Lambda function `dispatch_refund`.

mod dispatch_refund;

use countersign::config::Config;
use dispatch_refund::DispatchRefund;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use stripe::Stripe;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    countersign::host::start_log();
    let config = Config::from_environment();
    let worker = DispatchRefund {
        ledger: config.ledger()?,
        provider: Stripe::from_config(&config)?,
        consent_keys: config.key_set("COUNTERSIGN_CONSENT_KEYS")?,
    };
    worker.ledger.warm().await;
    let worker = &worker;
    run(service_fn(move |event: LambdaEvent<_>| worker.take(event))).await
}
