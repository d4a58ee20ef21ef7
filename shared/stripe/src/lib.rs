//! Stripe as a provider of refunds: one request, and what each of its answers proves.
//!
//! API reference: <https://docs.stripe.com/api/refunds/create>.

mod answer;
mod request;
mod units;

use std::time::Duration;

use countersign::bounded::IntentId;
use countersign::config::{Config, ConfigError};
use countersign::delivery::{Provider, Sent, Terms, Unsayable};
use refunds::{Mode, Refund};
use request::Request;

/// How long one request may take. Well under a worker's own timeout, and that under its lease.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A Stripe account, or a platform that acts for connected accounts.
pub struct Stripe {
    client: reqwest::Client,
    url: String,
    key: String,
}

impl Stripe {
    /// The account of `COUNTERSIGN_PROVIDER_URL` and `COUNTERSIGN_PROVIDER_KEY`.
    ///
    /// # Errors
    /// When a setting is absent or the key is no Stripe secret key.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        const KEY: &str = "COUNTERSIGN_PROVIDER_KEY";
        let url = config.text("COUNTERSIGN_PROVIDER_URL")?;
        let key = config.text(KEY)?;
        if mode(&key).is_none() {
            return Err(ConfigError::new(KEY, "is not a Stripe secret or restricted key"));
        }
        // No connection is kept: a request on one that the other side had closed could be sent twice unseen.
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .pool_max_idle_per_host(0)
            .retry(reqwest::retry::never())
            .build()
            .map_err(|_| ConfigError::new("COUNTERSIGN_PROVIDER_URL", "cannot be connected to with TLS"))?;
        Ok(Self { client, url: url.trim_end_matches('/').to_owned(), key })
    }
}

/// What a key is for: `sk_test_…`, `rk_live_…`.
fn mode(key: &str) -> Option<Mode> {
    let rest = key.strip_prefix("sk_").or_else(|| key.strip_prefix("rk_"))?;
    let (mode, _) = rest.split_once('_')?;
    Mode::parse(mode).ok()
}

impl Provider<Refund> for Stripe {
    /// Keys are kept "at least 24 hours", the parameters are compared, and a refund can be listed at once, with some
    /// room for replicas: <https://docs.stripe.com/api/idempotent_requests>.
    const TERMS: Terms = Terms {
        duplicate_window: Some(Duration::from_secs(24 * 60 * 60)),
        lookup_lag: Some(Duration::from_secs(60)),
        compares_body: true,
    };

    fn request(
        &self,
        _tenant: &countersign::bounded::Tenant,
        intent: &IntentId,
        refund: &Refund,
    ) -> Result<String, Unsayable> {
        if mode(&self.key) != Some(refund.mode) {
            return Err(Unsayable("the provider key is of another mode than the payment"));
        }
        Request::of(intent, refund)?.to_text()
    }

    async fn send(&self, intent: &IntentId, request: &str, attempt: i64) -> Sent {
        let Some(request) = Request::parse(request) else {
            return Sent::Unknown("the persisted request cannot be read".to_owned());
        };
        let sent = self
            .client
            .post(format!("{}/v1/refunds", self.url))
            .bearer_auth(&self.key)
            .header("Idempotency-Key", intent.as_str())
            .header("Stripe-Account", &request.account)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(request.form.clone())
            .send()
            .await;
        match sent {
            Ok(response) => answer::read(response, &request, attempt).await,
            // No byte of the request left this machine.
            Err(error) if error.is_connect() => Sent::NotExecuted("no connection to the provider".to_owned()),
            Err(error) if error.is_timeout() => Sent::Unknown("the provider did not answer in time".to_owned()),
            Err(_) => Sent::Unknown("the connection to the provider broke".to_owned()),
        }
    }

    async fn look_up(&self, _: &IntentId, _: &str) -> countersign::delivery::Found {
        countersign::delivery::Found::Nothing("merge".to_owned())
    }
}
