//! The issuer's public keys: given as text, or published at an address from which they are fetched and kept.
//!
//! Apart from the tokens themselves, since an issuer that rotates its keys or is down is nothing that a token's check should know of.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign::clock::Timestamp;
use countersign::config::ConfigError;
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{AlgorithmFamily, DecodingKey};
use reqwest::{Client, StatusCode, Url};
use serde::Deserialize;
use serde_json::Value;

use crate::cache::{Cache, NoKey};

/// `COUNTERSIGN_ISSUER_KEYS`: a JWKS, or the address of one.
pub(crate) const SETTING: &str = "COUNTERSIGN_ISSUER_KEYS";
/// How long the issuer may take. Well under the function's own timeout, so that a call gets its answer.
const TIMEOUT: Duration = Duration::from_secs(2);
/// No key set is larger; what is, is not read to its end.
const LARGEST: usize = 64 * 1024;

/// The keys that an issuer signs with.
pub(crate) enum Keys {
    /// Given once and for all.
    Given(JwkSet),
    /// Published by the issuer.
    Published(Published),
}

impl Keys {
    /// Reads the setting.
    pub(crate) fn parse(setting: &str) -> Result<Self, ConfigError> {
        if setting.trim_start().starts_with('{') {
            let keys = serde_json::from_str(setting).map_err(|error| ConfigError::new(SETTING, error.to_string()))?;
            return Ok(Self::Given(keys));
        }
        Published::at(setting).map(Self::Published)
    }

    /// Fetches published keys, so that the first call need not. An issuer that is down is asked again by that call.
    pub(crate) async fn warm(&self) {
        if let Self::Published(published) = self {
            published.fetch().await;
        }
    }

    /// The key of this name.
    pub(crate) async fn find(&self, kid: &str) -> Result<Jwk, NoKey> {
        match self {
            Self::Given(keys) => keys.find(kid).cloned().ok_or(NoKey::Unknown),
            Self::Published(published) => published.find(kid).await,
        }
    }
}

/// Keys at an address.
pub(crate) struct Published {
    url: Url,
    client: Client,
    cache: Mutex<Cache>,
}

impl Published {
    fn at(url: &str) -> Result<Self, ConfigError> {
        let refused = |problem: &str| ConfigError::new(SETTING, problem);
        let url = Url::parse(url).map_err(|_| refused("is neither a JWKS nor its address"))?;
        if !(url.scheme() == "https" || url.scheme() == "http" && is_loopback(&url)) {
            return Err(refused("is not an https address; http is for this machine alone"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("holds a user name or a password; the keys are public"));
        }
        // Whoever answers says who may call, so it is the address that was configured and no other.
        let client = Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|_| refused("cannot be connected to with TLS"))?;
        Ok(Self { url, client, cache: Mutex::default() })
    }

    async fn find(&self, kid: &str) -> Result<Jwk, NoKey> {
        let ask = self.cache().ask(kid, Timestamp::now());
        if ask {
            self.fetch().await;
        }
        self.cache().find(kid, Timestamp::now())
    }

    async fn fetch(&self) {
        let fetched = self.get().await;
        if let Err(why) = &fetched {
            tracing::warn!(why, "the issuer's keys could not be fetched");
        }
        self.cache().take(fetched.ok(), Timestamp::now());
    }

    async fn get(&self) -> Result<JwkSet, &'static str> {
        let unreachable =
            |error: reqwest::Error| if error.is_timeout() { "no answer in time" } else { "no connection" };
        let mut response = self.client.get(self.url.clone()).send().await.map_err(unreachable)?;
        if response.status() != StatusCode::OK {
            return Err("another status than 200");
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > LARGEST {
                return Err("more than 64 KB");
            }
            body.extend_from_slice(&chunk);
        }
        usable(&body)
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The keys of a set that can verify a signature. Others are passed over, as RFC 7517, section 5 has it, since issuers
/// publish keys for encryption beside them; a set without any is none.
fn usable(body: &[u8]) -> Result<JwkSet, &'static str> {
    #[derive(Deserialize)]
    struct Published {
        keys: Vec<Value>,
    }
    let published: Published = serde_json::from_slice(body).map_err(|_| "not a JWKS")?;
    let keys = published.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).filter(verifies).collect();
    let set = JwkSet { keys };
    if set.keys.is_empty() { Err("no key that verifies a signature") } else { Ok(set) }
}

fn verifies(key: &Jwk) -> bool {
    let family = DecodingKey::from_jwk(key).map(|key| key.family());
    key.common.key_id.is_some()
        && key.common.public_key_use != Some(PublicKeyUse::Encryption)
        && family.is_ok_and(|family| family != AlgorithmFamily::Hmac)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}
