//! Configuration: the one place that reads the environment.

use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Region, StalledStreamProtectionConfig};

use crate::keys::{KeySet, Signer};
use crate::ledger::{Dynamo, TableNames};

/// A setting that is missing or makes no sense. It names the setting, never its value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable `{name}` {problem}")]
pub struct ConfigError {
    name: String,
    problem: String,
}

impl ConfigError {
    /// A setting that is there and makes no sense.
    #[must_use]
    pub fn new(name: &str, problem: impl Into<String>) -> Self {
        Self { name: name.to_owned(), problem: problem.into() }
    }
}

/// The environment of a function.
#[derive(Debug, Clone, Copy, Default)]
pub struct Config {
    _private: (),
}

impl Config {
    /// The process's own environment.
    #[must_use]
    pub const fn from_environment() -> Self {
        Self { _private: () }
    }

    /// A setting that may be absent; empty counts as absent.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn optional(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// A setting.
    ///
    /// # Errors
    /// When it is absent.
    pub fn text(&self, name: &str) -> Result<String, ConfigError> {
        self.optional(name).ok_or_else(|| ConfigError::new(name, "is not set"))
    }

    /// The id of the gateway whose calls are taken: `COUNTERSIGN_GATEWAY_ID`.
    ///
    /// # Errors
    /// When it is absent.
    pub fn gateway_id(&self) -> Result<String, ConfigError> {
        self.text("COUNTERSIGN_GATEWAY_ID")
    }

    /// A set of public keys, such as `COUNTERSIGN_CALLER_KEYS`.
    ///
    /// # Errors
    /// When it is absent or no JWKS of Ed25519 keys.
    pub fn key_set(&self, name: &str) -> Result<KeySet, ConfigError> {
        KeySet::parse(&self.text(name)?).map_err(|error| ConfigError::new(name, error.to_string()))
    }

    /// A private key, such as `COUNTERSIGN_CALLER_SIGNING_KEY`.
    ///
    /// # Errors
    /// When it is absent or no private Ed25519 JWK.
    pub fn signer(&self, name: &str) -> Result<Signer, ConfigError> {
        Signer::parse(&self.text(name)?).map_err(|error| ConfigError::new(name, error.to_string()))
    }

    /// How long Lambda lets this function run: `COUNTERSIGN_TIMEOUT_S`, 10 seconds unless set.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        let seconds = self.optional("COUNTERSIGN_TIMEOUT_S").and_then(|text| text.parse().ok()).unwrap_or(10);
        Duration::from_secs(seconds)
    }

    /// Where the Lambda Runtime API listens.
    ///
    /// # Errors
    /// When it is absent or no address.
    pub fn runtime_api(&self) -> Result<http::Uri, ConfigError> {
        const NAME: &str = "AWS_LAMBDA_RUNTIME_API";
        let address = self.text(NAME)?;
        let address = if address.contains("://") { address } else { format!("http://{address}") };
        address.parse().map_err(|_| ConfigError::new(NAME, "is not an address"))
    }

    /// The ledger: `COUNTERSIGN_LEDGER_TABLE` and `COUNTERSIGN_CONSENTS_TABLE`.
    ///
    /// # Errors
    /// When a setting is absent.
    pub fn ledger(&self) -> Result<Dynamo, ConfigError> {
        let ledger = self.text("COUNTERSIGN_LEDGER_TABLE")?;
        let consents = self.text("COUNTERSIGN_CONSENTS_TABLE")?;
        Ok(Dynamo::new(self.dynamodb()?, TableNames { ledger, consents }))
    }

    /// One client, with the region and the credentials that Lambda puts into the environment.
    fn dynamodb(&self) -> Result<Client, ConfigError> {
        let region = self.text("AWS_REGION")?;
        let id = self.text("AWS_ACCESS_KEY_ID")?;
        let secret = self.text("AWS_SECRET_ACCESS_KEY")?;
        let credentials = Credentials::new(id, secret, self.optional("AWS_SESSION_TOKEN"), None, "environment");
        Ok(dynamodb(&region, credentials, self.optional("AWS_ENDPOINT_URL_DYNAMODB").as_deref()))
    }
}

/// A DynamoDB client as the functions use it.
#[must_use]
pub fn dynamodb(region: &str, credentials: Credentials, endpoint: Option<&str>) -> Client {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(1))
        .operation_attempt_timeout(Duration::from_secs(1))
        .operation_timeout(Duration::from_secs(3))
        .build();
    let mut config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new(region.to_owned()))
        .credentials_provider(credentials)
        .retry_config(RetryConfig::standard().with_max_attempts(3))
        .timeout_config(timeouts)
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    if let Some(endpoint) = endpoint {
        config = config.endpoint_url(endpoint);
    }
    Client::from_conf(config.build())
}
