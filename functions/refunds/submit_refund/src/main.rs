//! The Lambda function `submit_refund`.

mod submit_refund;

use std::process::ExitCode;

use countersign::host;
use submit_refund::SubmitRefund;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    host::serve(async |config| {
        let (ledger, consent_keys) = (config.ledger()?, config.key_set("COUNTERSIGN_CONSENT_KEYS")?);
        ledger.warm().await;
        Ok(SubmitRefund { ledger, consent_keys })
    })
    .await
}
