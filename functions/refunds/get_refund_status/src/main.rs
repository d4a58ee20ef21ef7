//! The Lambda function `get_refund_status`.

mod get_refund_status;

use std::process::ExitCode;

use countersign::host;
use get_refund_status::GetRefundStatus;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    host::serve(async |config| {
        let ledger = config.ledger()?;
        ledger.warm().await;
        Ok(GetRefundStatus { ledger })
    })
    .await
}
