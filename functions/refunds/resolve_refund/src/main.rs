//! The Lambda function `resolve_refund`.

mod resolve_refund;
mod view;

use countersign::config::Config;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use resolve_refund::ResolveRefund;
use tokens::Tokens;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    countersign::host::start_log();
    let config = Config::from_environment();
    let tokens = Tokens::from_config(&config, "COUNTERSIGN_OPERATIONS_AUDIENCE")?;
    let resolve = ResolveRefund { ledger: config.ledger()?, tokens };
    resolve.ledger.warm().await;
    resolve.tokens.warm().await;
    let resolve = &resolve;
    run(service_fn(async move |event: LambdaEvent<_>| Ok::<_, Error>(resolve.take(&event.payload).await))).await
}
