//! The Lambda function `approval_page`.

mod act;
mod approval_page;
mod cookies;
mod list;
mod provider;
mod refusal;
mod settings;
mod show;
mod sign_in;
mod text;
mod view;

use approval_page::ApprovalPage;
use countersign::config::Config;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_http::Error> {
    countersign::host::start_log();
    let page = ApprovalPage::from_config(&Config::from_environment())?;
    page.ledger.warm().await;
    lambda_http::run(approval_page::router(page)).await
}
