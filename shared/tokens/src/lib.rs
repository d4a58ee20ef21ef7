//! Access tokens of an OpenID provider: verified here, whatever a gateway has done before, and read into a caller.

mod cache;
mod claims;
mod keys;

use countersign::bounded::{Actor, Client, Issuer, Principal, Tenant};
use countersign::caller::Caller;
use countersign::config::{Config, ConfigError};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Map, Value};

pub use crate::claims::Claims;

use crate::cache::NoKey;
use crate::keys::Keys;

/// Signatures by a key pair. A shared secret could be used to sign by whoever verifies.
const ALGORITHMS: [Algorithm; 4] = [Algorithm::EdDSA, Algorithm::ES256, Algorithm::RS256, Algorithm::PS256];
/// By how much, in seconds, the issuer's clock may differ.
const SKEW: u64 = 5;

/// Verifies tokens of one issuer for one audience.
pub struct Tokens {
    issuer: Issuer,
    audience: String,
    keys: Keys,
    claims: Claims,
}

/// Why a token names nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nobody {
    /// It proves nothing, or says too little.
    Refused(&'static str),
    /// The issuer could not be asked for the key that it is signed with, so nothing is known about it.
    Unverifiable,
}

impl From<&'static str> for Nobody {
    fn from(why: &'static str) -> Self {
        Self::Refused(why)
    }
}

impl Tokens {
    /// Of `COUNTERSIGN_ISSUER`, with the keys of `COUNTERSIGN_ISSUER_KEYS` (a JWKS, or its address) and the claims of
    /// `COUNTERSIGN_CLAIMS`, for the audience that a setting names.
    ///
    /// # Errors
    /// When a setting is absent or makes no sense.
    pub fn from_config(config: &Config, audience: &str) -> Result<Self, ConfigError> {
        let parse_error =
            |name: &'static str| move |error: &dyn std::fmt::Display| ConfigError::new(name, error.to_string());
        let issuer = "COUNTERSIGN_ISSUER";
        Ok(Self {
            issuer: Issuer::parse(&config.text(issuer)?).map_err(|error| parse_error(issuer)(&error))?,
            audience: config.text(audience)?,
            keys: Keys::parse(&config.text(keys::SETTING)?)?,
            claims: Claims::from_config(config, "COUNTERSIGN_CLAIMS")?,
        })
    }

    /// Gets ready for the first token, as far as the issuer lets it.
    pub async fn warm(&self) {
        self.keys.warm().await;
    }

    /// Who the token says is calling.
    ///
    /// # Errors
    /// Why nobody is.
    pub async fn caller(&self, token: &str) -> Result<Caller, Nobody> {
        Ok(self.read(&self.verify(token).await?)?)
    }

    async fn verify(&self, token: &str) -> Result<Map<String, Value>, Nobody> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| "the token is malformed")?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err("the token's algorithm is not allowed".into());
        }
        let kid = header.kid.ok_or("the token names no key")?;
        let jwk = self.keys.find(&kid).await.map_err(|no_key| match no_key {
            NoKey::Unknown => Nobody::Refused("the token's key is not known"),
            NoKey::Unreachable => Nobody::Unverifiable,
        })?;
        let named = jwk.common.key_algorithm.and_then(|named| named.to_string().parse::<Algorithm>().ok());
        if named.is_some_and(|named| named != header.alg) {
            return Err("the token's key is for another algorithm".into());
        }
        let key = DecodingKey::from_jwk(&jwk).map_err(|_| "the token's key cannot be used")?;
        let mut validation = Validation::new(header.alg);
        validation.leeway = SKEW;
        validation.validate_nbf = true;
        validation.set_issuer(&[self.issuer.as_str()]);
        validation.set_audience(&[&self.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        let token = jsonwebtoken::decode(token, &key, &validation).map_err(|_| "the token is not valid")?;
        Ok(token.claims)
    }

    /// A token without a tenant or a human principal calls nothing.
    fn read(&self, claims: &Map<String, Value>) -> Result<Caller, &'static str> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let tenant = text(&self.claims.tenant).ok_or("the token names no tenant")?;
        let principal = text(&self.claims.principal).ok_or("the token names no principal")?;
        Ok(Caller {
            tenant: Tenant::parse(tenant).map_err(|_| "the tenant's name is not usable")?,
            issuer: self.issuer.clone(),
            principal: Principal::parse(principal).map_err(|_| "the principal's name is not usable")?,
            actor: optional(claims.get(&self.claims.actor), Actor::parse)?,
            client: optional(claims.get(&self.claims.client), Client::parse)?,
            roles: self.claims.roles(claims),
        })
    }
}

/// A claim that may be absent, but not unusable: an unreadable agent is not no agent.
fn optional<T, E>(claim: Option<&Value>, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<Option<T>, &'static str> {
    const UNUSABLE: &str = "a name in the token is not usable";
    let Some(claim) = claim else { return Ok(None) };
    parse(claim.as_str().ok_or(UNUSABLE)?).map(Some).map_err(|_| UNUSABLE)
}
