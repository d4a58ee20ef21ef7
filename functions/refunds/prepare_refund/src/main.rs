//! The Lambda function `prepare_refund`.

mod prepare_refund;

use std::process::ExitCode;

use countersign::host;
use prepare_refund::PrepareRefund;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    host::serve(async |config| {
        let ledger = config.ledger()?;
        ledger.warm().await;
        Ok(PrepareRefund { ledger })
    })
    .await
}
