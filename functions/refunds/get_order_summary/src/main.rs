//! The Lambda function `get_order_summary`.

mod get_order_summary;

use std::process::ExitCode;

use countersign::host;
use get_order_summary::GetOrderSummary;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    host::serve(async |config| {
        let ledger = config.ledger()?;
        ledger.warm().await;
        Ok(GetOrderSummary { ledger })
    })
    .await
}
