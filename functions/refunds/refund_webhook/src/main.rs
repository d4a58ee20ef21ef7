//! The Lambda function `refund_webhook`.

mod refund_webhook;

use countersign::config::Config;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use refund_webhook::RefundWebhook;
use stripe::Stripe;
use stripe::webhook::Secrets;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    countersign::host::start_log();
    let config = Config::from_environment();
    let (ledger, provider) = (config.ledger()?, Stripe::from_config(&config)?);
    ledger.warm().await;
    let webhook = RefundWebhook { ledger, provider, secrets: Secrets::from_config(&config)? };
    let webhook = &webhook;
    run(service_fn(async move |event: LambdaEvent<_>| Ok::<_, Error>(webhook.take(&event.payload).await))).await
}
