//! Signing keys and key sets: Ed25519 as JSON Web Keys, compact signatures with a `typ` and a `kid`.
//!
//! Formats: RFC 7517 (JWK), RFC 8037 (Ed25519 in JOSE), RFC 7515 (compact JWS). Callers, consents and sealed request
//! state have sets of their own, and each statement a `typ` of its own: none can pass for another.

use std::collections::BTreeMap;
use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Why a key or a signature was not accepted. It never says what was in them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not a private Ed25519 JWK.
    #[error("the signing key is not a private Ed25519 JWK with `kid` and `d`")]
    NotASigningKey,
    /// Not a set of public Ed25519 JWKs.
    #[error("the key set is not a JWKS of Ed25519 keys, each with a `kid`")]
    NotAKeySet,
    /// The token's header is not one of ours.
    #[error("the token has no known `kid`, `typ` or algorithm")]
    UnknownKey,
    /// The signature or the claims are not valid.
    #[error("the token's signature or claims are not valid")]
    Invalid,
    /// No signature could be made.
    #[error("the signature could not be made")]
    Unsigned,
}

/// The DER prefix of an Ed25519 private key in PKCS#8, before its 32 bytes (RFC 8410, section 7).
const PKCS8: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// A private JWK, as `COUNTERSIGN_*_SIGNING_KEY` holds it.
#[derive(Serialize, Deserialize)]
struct PrivateJwk {
    kty: String,
    crv: String,
    kid: String,
    d: String,
}

/// Signs statements with one private key.
pub struct Signer {
    kid: String,
    key: EncodingKey,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("kid", &self.kid).finish_non_exhaustive()
    }
}

impl Signer {
    /// Reads a private JWK: `{"kty":"OKP","crv":"Ed25519","kid":…,"d":…}`.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(jwk: &str) -> Result<Self, KeyError> {
        let jwk: PrivateJwk = serde_json::from_str(jwk).map_err(|_| KeyError::NotASigningKey)?;
        let seed = BASE64URL_NOPAD.decode(jwk.d.as_bytes()).map_err(|_| KeyError::NotASigningKey)?;
        if jwk.kty != "OKP" || jwk.crv != "Ed25519" || jwk.kid.is_empty() || seed.len() != 32 {
            return Err(KeyError::NotASigningKey);
        }
        let key = EncodingKey::from_ed_der(&[PKCS8.as_slice(), seed.as_slice()].concat());
        Ok(Self { kid: jwk.kid, key })
    }

    /// Makes a new private JWK from the operating system's randomness.
    ///
    /// # Errors
    /// When there is none to be had.
    pub fn generate(kid: &str) -> Result<String, KeyError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|_| KeyError::Unsigned)?;
        let d = BASE64URL_NOPAD.encode(&seed);
        let jwk = PrivateJwk { kty: "OKP".to_owned(), crv: "Ed25519".to_owned(), kid: kid.to_owned(), d };
        serde_json::to_string(&jwk).map_err(|_| KeyError::Unsigned)
    }

    /// The public half as a JWK.
    ///
    /// # Errors
    /// When the key is not a point of the curve.
    pub fn public(&self) -> Result<Jwk, KeyError> {
        let mut jwk = Jwk::from_encoding_key(&self.key, Algorithm::EdDSA).map_err(|_| KeyError::NotASigningKey)?;
        jwk.common.key_id = Some(self.kid.clone());
        Ok(jwk)
    }

    /// Signs claims as a compact JWS of the given `typ`.
    ///
    /// # Errors
    /// When the key cannot sign.
    pub fn sign<C: Serialize>(&self, typ: &str, claims: &C) -> Result<String, KeyError> {
        let mut header = Header::new(Algorithm::EdDSA);
        header.typ = Some(typ.to_owned());
        header.kid = Some(self.kid.clone());
        jsonwebtoken::encode(&header, claims, &self.key).map_err(|_| KeyError::Unsigned)
    }
}

/// Public keys by `kid`. Two live keys make a rotation: publish the new one, sign with it, then drop the old one.
#[derive(Debug, Clone)]
pub struct KeySet(BTreeMap<String, DecodingKey>);

impl KeySet {
    /// Reads a JWKS of public Ed25519 keys.
    ///
    /// # Errors
    /// When it is anything else, has none, or two keys share a `kid`.
    pub fn parse(jwks: &str) -> Result<Self, KeyError> {
        let set: JwkSet = serde_json::from_str(jwks).map_err(|_| KeyError::NotAKeySet)?;
        let mut keys = BTreeMap::new();
        for jwk in &set.keys {
            let kid = jwk.common.key_id.clone().ok_or(KeyError::NotAKeySet)?;
            let key = DecodingKey::from_jwk(jwk).map_err(|_| KeyError::NotAKeySet)?;
            if key.family() != jsonwebtoken::AlgorithmFamily::Ed || keys.insert(kid, key).is_some() {
                return Err(KeyError::NotAKeySet);
            }
        }
        if keys.is_empty() { Err(KeyError::NotAKeySet) } else { Ok(Self(keys)) }
    }

    /// The claims of a compact JWS that one of the keys signed as this `typ`. Times are the caller's to check, since
    /// only it knows the present.
    ///
    /// # Errors
    /// When the header, the signature or the claims are off.
    pub fn verify<C: DeserializeOwned>(&self, typ: &str, token: &str) -> Result<C, KeyError> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| KeyError::UnknownKey)?;
        let key = header.kid.and_then(|kid| self.0.get(&kid)).ok_or(KeyError::UnknownKey)?;
        if header.typ.as_deref() != Some(typ) || header.alg != Algorithm::EdDSA {
            return Err(KeyError::UnknownKey);
        }
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        let token = jsonwebtoken::decode(token, key, &validation).map_err(|_| KeyError::Invalid)?;
        Ok(token.claims)
    }
}

/// A JWKS of the public halves of some signing keys, as text.
///
/// # Errors
/// When a key is not a point of the curve.
pub fn public_set(signers: &[&Signer]) -> Result<String, KeyError> {
    let keys = signers.iter().map(|signer| signer.public()).collect::<Result<Vec<_>, _>>()?;
    serde_json::to_string(&JwkSet { keys }).map_err(|_| KeyError::NotAKeySet)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Claims = BTreeMap<String, i64>;

    fn claims() -> Claims {
        BTreeMap::from([("claim".to_owned(), 1)])
    }

    fn signer(kid: &str) -> Signer {
        Signer::parse(&Signer::generate(kid).unwrap()).unwrap()
    }

    #[test]
    fn both_live_keys_verify_and_a_dropped_one_does_not() {
        let (old, new) = (signer("2026-11"), signer("2026-12"));
        let token = old.sign("a+jwt", &claims()).unwrap();
        let both = KeySet::parse(&public_set(&[&old, &new]).unwrap()).unwrap();
        assert_eq!(both.verify::<Claims>("a+jwt", &token), Ok(claims()));
        let rotated = KeySet::parse(&public_set(&[&new]).unwrap()).unwrap();
        assert_eq!(rotated.verify::<Claims>("a+jwt", &token), Err(KeyError::UnknownKey));
    }

    #[test]
    fn a_statement_of_one_type_is_none_of_another() {
        let signer = signer("k");
        let keys = KeySet::parse(&public_set(&[&signer]).unwrap()).unwrap();
        let token = signer.sign("a+jwt", &claims()).unwrap();
        assert_eq!(keys.verify::<Claims>("b+jwt", &token), Err(KeyError::UnknownKey));
    }

    #[test]
    fn a_key_of_the_same_name_but_another_owner_is_not_accepted() {
        let token = signer("k").sign("a+jwt", &claims()).unwrap();
        let keys = KeySet::parse(&public_set(&[&signer("k")]).unwrap()).unwrap();
        assert_eq!(keys.verify::<Claims>("a+jwt", &token), Err(KeyError::Invalid));
    }

    #[test]
    fn a_signing_key_does_not_show_itself() {
        let jwk = Signer::generate("k").unwrap();
        let shown = format!("{:?}", Signer::parse(&jwk).unwrap());
        let private: PrivateJwk = serde_json::from_str(&jwk).unwrap();
        assert!(!shown.contains(&private.d));
    }
}
