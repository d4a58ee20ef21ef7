//! Stripe as a provider of refunds: one request, and what each of its answers proves; the lookup of what became of it.
//!
//! API reference: <https://docs.stripe.com/api/refunds/create>.

mod accounts;
mod answer;
mod lookup;
mod object;
mod request;
mod units;
pub mod webhook;
mod wire;

use std::time::Duration;

pub use accounts::Accounts;
use countersign::bounded::{IntentId, Tenant};
use countersign::config::{Config, ConfigError};
use countersign::delivery::{Found, Provider, Sent, Terms, Unsayable};
use lookup::{Next, Search};
use refunds::{Mode, Refund};
use request::Request;
use wire::Answer;

/// How long a lookup may take, with all its pages. Sending takes half of that at most. A worker begins neither unless it
/// has that long left and time to record what it learned; its own timeout is well under the lease.
pub const LOOKUP: Duration = Duration::from_secs(20);

const URL: &str = "COUNTERSIGN_PROVIDER_URL";
const KEY: &str = "COUNTERSIGN_PROVIDER_KEY";

/// A Stripe account, or a platform that acts for connected accounts.
pub struct Stripe {
    client: reqwest::Client,
    url: String,
    key: String,
    accounts: Accounts,
}

impl Stripe {
    /// The account of `COUNTERSIGN_PROVIDER_URL` and `COUNTERSIGN_PROVIDER_KEY`, for the tenants of
    /// `COUNTERSIGN_PROVIDER_ACCOUNTS`.
    ///
    /// # Errors
    /// When a setting is absent or [makes no sense](Self::new).
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        let accounts = Accounts::parse(&config.text("COUNTERSIGN_PROVIDER_ACCOUNTS")?)?;
        Self::new(&config.text(URL)?, config.text(KEY)?, accounts)
    }

    /// The account of a key, at this address, for these tenants.
    ///
    /// # Errors
    /// When the key is no Stripe secret key, or a live one would be sent in the clear. The error names the setting.
    pub fn new(url: &str, key: String, accounts: Accounts) -> Result<Self, ConfigError> {
        match mode(&key) {
            None => Err(ConfigError::new(KEY, "is not a Stripe secret or restricted key")),
            Some(Mode::Live) if !url.starts_with("https://") => {
                Err(ConfigError::new(URL, "is not safe for a live key"))
            }
            Some(Mode::Test | Mode::Live) => {
                let client = wire::client().map_err(|_| ConfigError::new(URL, "cannot be connected to with TLS"))?;
                Ok(Self { client, url: url.trim_end_matches('/').to_owned(), key, accounts })
            }
        }
    }

    /// Reads the list of the payment's refunds, page by page.
    async fn search(&self, intent: &IntentId, request: &Request) -> Found {
        let mut search = Search::new(intent, request);
        let mut after = None;
        loop {
            let Some(answer) = self.page(request, after.as_deref()).await else {
                return Found::Nothing("the provider did not answer a lookup".to_owned());
            };
            match search.read(answer.status, &answer.body) {
                Next::Page(id) => after = Some(id),
                Next::Done(found) => return found,
            }
        }
    }

    async fn page(&self, request: &Request, after: Option<&str>) -> Option<Answer> {
        let page = [("payment_intent", request.payment.as_str()), ("limit", lookup::PAGE)];
        let after = after.map(|id| ("starting_after", id));
        let response = self
            .client
            .get(format!("{}/v1/refunds", self.url))
            .query(&page.into_iter().chain(after).collect::<Vec<_>>())
            .bearer_auth(&self.key)
            .header("Stripe-Account", &request.account)
            .send()
            .await
            .ok()?;
        Answer::read(response, lookup::LARGEST).await
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

    fn request(&self, tenant: &Tenant, intent: &IntentId, refund: &Refund) -> Result<String, Unsayable> {
        if mode(&self.key) != Some(refund.mode) {
            return Err(Unsayable("the provider key is of another mode than the payment"));
        }
        if !self.accounts.are(tenant, &refund.account) {
            return Err(Unsayable("the payment was taken at an account that is not the tenant's"));
        }
        Request::of(tenant, intent, refund)?.to_text()
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
            Ok(response) => match Answer::read(response, answer::LARGEST).await {
                Some(answer) => {
                    answer::log(&answer, attempt);
                    answer::classify(&answer, &request, attempt)
                }
                None => Sent::Unknown("the provider's answer broke off, or is of no reasonable size".to_owned()),
            },
            // No byte of the request left this machine.
            Err(error) if error.is_connect() => Sent::NotExecuted("no connection to the provider".to_owned()),
            Err(error) if error.is_timeout() => Sent::Unknown("the provider did not answer in time".to_owned()),
            Err(_) => Sent::Unknown("the connection to the provider broke".to_owned()),
        }
    }

    async fn look_up(&self, intent: &IntentId, request: &str) -> Found {
        let Some(request) = Request::parse(request) else {
            return Found::Nothing("the persisted request cannot be read".to_owned());
        };
        if mode(&self.key) != Some(request.mode()) {
            return Found::Nothing("the provider key is of another mode than the payment".to_owned());
        }
        match tokio::time::timeout(LOOKUP, self.search(intent, &request)).await {
            Ok(found) => found,
            Err(_) => Found::Nothing("the lookup at the provider did not end in time".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_secret_key_is_taken_and_a_live_one_is_not_sent_in_the_clear() {
        for (url, key, taken) in [
            ("http://127.0.0.1:1", "sk_test_1", true),
            ("https://api.stripe.com", "sk_test_1", true),
            ("https://api.stripe.com/", "rk_live_1", true),
            ("http://api.stripe.com", "sk_live_1", false),
            ("HTTPS.example", "rk_live_1", false),
            ("https://api.stripe.com", "pk_test_1", false),
            ("https://api.stripe.com", "sk_prod_1", false),
            ("https://api.stripe.com", "whsec_1", false),
        ] {
            assert_eq!(Stripe::new(url, key.to_owned(), Accounts::default()).is_ok(), taken, "{url} {key}");
        }
    }
}
