//! The Lambda function `cancel_refund`.

mod cancel_refund;

use std::process::ExitCode;

use cancel_refund::CancelRefund;
use countersign::host;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    host::serve(async |config| {
        let ledger = config.ledger()?;
        ledger.warm().await;
        Ok(CancelRefund { ledger })
    })
    .await
}
