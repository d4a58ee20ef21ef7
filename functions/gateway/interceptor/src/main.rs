//! The Lambda function `interceptor`, in both positions of the gateway.

mod interceptor;
mod request;
mod response;

use countersign::config::Config;
use interceptor::Interceptor;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    countersign::host::start_log();
    let interceptor = Interceptor::from_config(&Config::from_environment())?;
    interceptor.tokens.warm().await;
    let interceptor = &interceptor;
    run(service_fn(async move |event: LambdaEvent<_>| Ok::<_, Error>(interceptor.take(&event.payload).await))).await
}
