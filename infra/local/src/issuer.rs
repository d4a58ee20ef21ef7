//! A development issuer: signs access tokens for a fixed cast of personas and publishes its keys.
//!
//! It stands where Cognito or another OpenID provider stands in production. It has no passwords: whoever can run the local
//! gateway's command line, or reach its sign-in page, can be anyone, which is what it is for.

mod codes;
mod documents;
mod persona;
mod sign_in;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::BASE64URL_NOPAD;
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, Validation,
    jwk::{Jwk, PublicKeyUse, ThumbprintHash},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use persona::Persona;
pub use sign_in::Client;

/// How long a token lives unless told otherwise: a working day, so that a demonstration is not cut short.
///
/// A local convenience. Production tokens live minutes.
pub const DEFAULT_TTL: Duration = Duration::from_secs(8 * 60 * 60);
/// How long an ID token lives: it is read once, at once.
const ID_TOKEN_TTL: Duration = Duration::from_secs(5 * 60);

/// What a token says.
#[derive(Debug, Serialize)]
struct Claims<'a> {
    iss: &'a str,
    aud: &'a str,
    sub: &'a str,
    iat: u64,
    exp: u64,
    tenant: &'a str,
    principal: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<&'a str>,
    client_id: &'a str,
    roles: &'a [&'a str],
}

/// What an ID token says (<https://openid.net/specs/openid-connect-core-1_0.html#IDToken>).
#[derive(Debug, Serialize)]
struct IdClaims<'a> {
    iss: &'a str,
    aud: &'a str,
    sub: &'a str,
    iat: u64,
    exp: u64,
    auth_time: u64,
    nonce: &'a str,
    name: &'a str,
    tenant: &'a str,
    principal: &'a str,
    roles: &'a [&'a str],
}

/// Why an issuer has no key, or a token no signature.
#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    /// The operating system gave no randomness.
    #[error("no key could be generated: the system has no randomness")]
    Entropy,
    /// Not the private half of an Ed25519 JWK.
    #[error("the issuer's key is no private Ed25519 JWK with `d`, `x` and `kid`; delete it to have a new one made")]
    Key,
    /// The key does not sign.
    #[error("the issuer's key does not work; delete it to have a new one made")]
    Crypto(#[from] jsonwebtoken::errors::Error),
    /// A clock before 1970.
    #[error("the clock is before 1970; set it")]
    Clock,
}

/// The private key as it is stored (<https://www.rfc-editor.org/rfc/rfc8037#section-2>).
#[derive(Clone, Serialize, Deserialize)]
struct PrivateJwk {
    kty: String,
    crv: String,
    alg: String,
    kid: String,
    x: String,
    d: String,
}

/// The issuer: one Ed25519 key, one audience.
#[derive(Clone)]
pub struct Issuer {
    url: String,
    audience: String,
    private: PrivateJwk,
    signing: EncodingKey,
    public: Jwk,
}

impl Issuer {
    /// An issuer with a fresh key. `url` is its `iss` and the base of its documents; it has no slash at the end.
    ///
    /// # Errors
    ///
    /// No randomness.
    pub fn generate(url: impl Into<String>, audience: impl Into<String>) -> Result<Self, IssuerError> {
        let mut seed = [0_u8; 32];
        getrandom::fill(&mut seed).map_err(|_| IssuerError::Entropy)?;
        Self::from_seed(url.into(), audience.into(), &seed)
    }

    /// An issuer with the key that an earlier one returned from [`Issuer::private_jwk`].
    ///
    /// # Errors
    ///
    /// A JWK of another type, or whose public half does not belong to the private one.
    pub fn from_jwk(url: impl Into<String>, audience: impl Into<String>, jwk: &Value) -> Result<Self, IssuerError> {
        let stored = PrivateJwk::deserialize(jwk).map_err(|_| IssuerError::Key)?;
        let seed = BASE64URL_NOPAD.decode(stored.d.as_bytes()).map_err(|_| IssuerError::Key)?;
        let seed: [u8; 32] = seed.try_into().map_err(|_| IssuerError::Key)?;
        let mut issuer = Self::from_seed(url.into(), audience.into(), &seed)?;
        if issuer.private.x != stored.x || stored.kid.is_empty() {
            return Err(IssuerError::Key);
        }
        issuer.public.common.key_id = Some(stored.kid.clone());
        issuer.private.kid = stored.kid;
        Ok(issuer)
    }

    fn from_seed(url: String, audience: String, seed: &[u8; 32]) -> Result<Self, IssuerError> {
        // PKCS #8 around the seed is a fixed prefix (https://www.rfc-editor.org/rfc/rfc8410#section-7).
        let mut der = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
        der.extend_from_slice(seed);
        let signing = EncodingKey::from_ed_der(&der);
        let mut public = Jwk::from_encoding_key(&signing, Algorithm::EdDSA)?;
        let kid = public.thumbprint(ThumbprintHash::SHA256)?.as_str().to_owned();
        public.common.key_id = Some(kid.clone());
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        let x = json!(public).get("x").and_then(Value::as_str).ok_or(IssuerError::Key)?.to_owned();
        let private = PrivateJwk {
            kty: "OKP".into(),
            crv: "Ed25519".into(),
            alg: "EdDSA".into(),
            kid,
            x,
            d: BASE64URL_NOPAD.encode(seed),
        };
        Ok(Self { url, audience, private, signing, public })
    }

    /// The `iss` of its tokens.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The `aud` of its tokens.
    #[must_use]
    pub fn audience(&self) -> &str {
        &self.audience
    }

    /// The key with its private half, to be stored where only the user reads it.
    #[must_use]
    pub fn private_jwk(&self) -> Value {
        json!(self.private)
    }

    /// The key set to verify with: `{"keys": […]}`, public halves only.
    #[must_use]
    pub fn jwks(&self) -> Value {
        json!({ "keys": [self.public] })
    }

    /// An access token for a persona, valid from `now` on. See [`DEFAULT_TTL`].
    ///
    /// # Errors
    ///
    /// A clock before 1970, or a key that does not sign.
    pub fn token(&self, persona: &Persona, now: SystemTime, ttl: Duration) -> Result<String, IssuerError> {
        self.token_for(&self.audience, persona, now, ttl)
    }

    /// The same for another audience than the gateway's.
    ///
    /// # Errors
    ///
    /// A clock before 1970, or a key that does not sign.
    pub fn token_for(
        &self,
        audience: &str,
        persona: &Persona,
        now: SystemTime,
        ttl: Duration,
    ) -> Result<String, IssuerError> {
        let iat = seconds(now)?;
        let claims = Claims {
            iss: &self.url,
            aud: audience,
            sub: persona.subject,
            iat,
            exp: iat.saturating_add(ttl.as_secs()),
            tenant: persona.tenant,
            principal: persona.principal,
            actor: persona.actor,
            client_id: persona.client,
            roles: persona.roles,
        };
        self.sign(&claims)
    }

    /// An ID token for a client, about a persona who has just signed in.
    fn id_token(&self, persona: &Persona, client: &str, nonce: &str, now: SystemTime) -> Result<String, IssuerError> {
        let iat = seconds(now)?;
        self.sign(&IdClaims {
            iss: &self.url,
            aud: client,
            sub: persona.subject,
            iat,
            exp: iat.saturating_add(ID_TOKEN_TTL.as_secs()),
            auth_time: iat,
            nonce,
            name: persona.name,
            tenant: persona.tenant,
            principal: persona.principal,
            roles: persona.roles,
        })
    }

    fn sign(&self, claims: &impl Serialize) -> Result<String, IssuerError> {
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(self.private.kid.clone());
        Ok(jsonwebtoken::encode(&header, claims, &self.signing)?)
    }

    /// Whether a token is this issuer's, for this audience, and not expired at `now`: what a JWT authorizer checks.
    #[must_use]
    pub fn accepts(&self, token: &str, now: SystemTime) -> bool {
        #[derive(Deserialize)]
        struct Expiry {
            exp: u64,
        }
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_issuer(&[&self.url]);
        validation.set_audience(&[&self.audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        // Compared below, against the clock that was handed in.
        validation.validate_exp = false;
        DecodingKey::from_jwk(&self.public)
            .and_then(|key| jsonwebtoken::decode::<Expiry>(token, &key, &validation))
            .is_ok_and(|token| seconds(now).is_ok_and(|now| now < token.claims.exp))
    }
}

fn seconds(time: SystemTime) -> Result<u64, IssuerError> {
    time.duration_since(UNIX_EPOCH).map(|elapsed| elapsed.as_secs()).map_err(|_| IssuerError::Clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer() -> Issuer {
        Issuer::generate("http://127.0.0.1:8700", "countersign-local").unwrap()
    }

    fn at(second: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(second)
    }

    fn token(issuer: &Issuer) -> String {
        issuer.token(Persona::find("acme-agent").unwrap(), at(1_000), Duration::from_secs(60)).unwrap()
    }

    #[test]
    fn a_token_is_accepted_until_it_expires() {
        let issuer = issuer();
        let token = token(&issuer);
        assert!(issuer.accepts(&token, at(1_059)));
        assert!(!issuer.accepts(&token, at(1_060)));
    }

    #[test]
    fn a_stored_key_signs_tokens_that_the_first_issuer_accepts() {
        let first = issuer();
        let again = Issuer::from_jwk(first.url(), first.audience(), &first.private_jwk()).unwrap();
        assert_eq!(first.jwks(), again.jwks());
        assert!(first.accepts(&token(&again), at(1_000)));
    }

    #[test]
    fn another_issuers_token_is_refused() {
        assert!(!issuer().accepts(&token(&issuer()), at(1_000)));
    }

    #[test]
    fn a_key_whose_halves_differ_is_refused() {
        let mut jwk = issuer().private_jwk();
        *jwk.get_mut("x").unwrap() = json!(issuer().private_jwk().get("x").unwrap());
        assert!(matches!(Issuer::from_jwk("i", "a", &jwk), Err(IssuerError::Key)));
    }

    #[test]
    fn the_published_keys_hold_no_private_half() {
        let jwks = issuer().jwks().to_string();
        assert!(jwks.contains("\"kid\""));
        assert!(!jwks.contains("\"d\""));
    }

    #[test]
    fn a_token_names_the_human_and_the_agent() {
        let token = token(&issuer());
        let payload = BASE64URL_NOPAD.decode(token.split('.').nth(1).unwrap().as_bytes()).unwrap();
        let claims: Value = serde_json::from_slice(&payload).unwrap();
        let expected = json!({
            "iss": "http://127.0.0.1:8700", "aud": "countersign-local", "sub": "acme-clerk", "iat": 1000, "exp": 1060,
            "tenant": "acme", "principal": "acme-clerk", "actor": "acme-agent", "client_id": "acme-agent-app",
            "roles": ["requester"],
        });
        assert_eq!(claims, expected);
    }
}
