//! The gateway's key pairs: one set each for callers, consents and tokens, kept in files that only their owner reads.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use countersign::keys::{KeyError, KeySet, Signer, public_set};
use data_encoding::BASE64;
use serde_json::Value;

use crate::issuer::{Issuer, IssuerError};

/// Who tokens are for.
pub const AUDIENCE: &str = "countersign-local";
/// The audience of the tokens with which operators say what became of something. No agent gets one.
pub const OPERATIONS_AUDIENCE: &str = "countersign-local-operations";

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// A file could not be read or written.
    #[error("the key file `{}` cannot be used; check its permissions", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// A file holds something else.
    #[error("the key file `{}` is damaged; move it away and start again with a new key", .0.display())]
    Damaged(PathBuf),
    /// No key could be made.
    #[error("no key could be made")]
    Key(#[from] KeyError),
    /// No token key could be made.
    #[error("no token key could be made")]
    Issuer(#[from] IssuerError),
}

/// All private keys of one local gateway, as JWKs.
pub struct Keys {
    caller: String,
    consent: String,
    token: Value,
    state: String,
}

impl Keys {
    /// New keys that are forgotten with the process.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn new() -> Result<Self, KeysError> {
        let token = Issuer::generate("http://127.0.0.1", AUDIENCE)?.private_jwk();
        let mut state = [0; 64];
        getrandom::fill(&mut state).map_err(|_| IssuerError::Entropy)?;
        Ok(Self {
            caller: Signer::generate("caller-1")?,
            consent: Signer::generate("consent-1")?,
            token,
            state: BASE64.encode(&state),
        })
    }

    /// The keys in a folder; those that are missing are made.
    ///
    /// # Errors
    /// When a file cannot be read or written, or is damaged.
    pub fn open(folder: &Path) -> Result<Self, KeysError> {
        let made = Self::new()?;
        let token = keep(&folder.join("token.json"), &made.token.to_string())?;
        Ok(Self {
            caller: keep(&folder.join("caller.json"), &made.caller)?,
            consent: keep(&folder.join("consent.json"), &made.consent)?,
            token: serde_json::from_str(&token).map_err(|_| KeysError::Damaged(folder.join("token.json")))?,
            state: keep(&folder.join("state.txt"), &made.state)?,
        })
    }

    /// The private JWK with which the interceptor signs callers.
    #[must_use]
    pub fn caller(&self) -> &str {
        &self.caller
    }

    /// The public keys by which tools know callers.
    ///
    /// # Errors
    /// When the private key is damaged.
    pub fn caller_set(&self) -> Result<String, KeysError> {
        Ok(public_set(&[&Signer::parse(&self.caller)?])?)
    }

    /// Signs consents. Only what shows intents to people holds it.
    ///
    /// # Errors
    /// When the private key is damaged.
    pub fn consent(&self) -> Result<Signer, KeysError> {
        Ok(Signer::parse(&self.consent)?)
    }

    /// The private JWK with which consents are signed.
    #[must_use]
    pub fn consent_jwk(&self) -> &str {
        &self.consent
    }

    /// The key that seals the approval page's cookies: 64 bytes in base64.
    #[must_use]
    pub fn state(&self) -> &str {
        &self.state
    }

    /// The public keys by which consents are known, as text.
    ///
    /// # Errors
    /// When the private key is damaged.
    pub fn consent_set(&self) -> Result<String, KeysError> {
        Ok(public_set(&[&self.consent()?])?)
    }

    /// The public keys by which consents are known.
    ///
    /// # Errors
    /// When the private key is damaged.
    pub fn consent_keys(&self) -> Result<KeySet, KeysError> {
        Ok(KeySet::parse(&self.consent_set()?)?)
    }

    /// The issuer of tokens at a URL.
    ///
    /// # Errors
    /// When the private key is damaged.
    pub fn issuer(&self, url: &str) -> Result<Issuer, KeysError> {
        Ok(Issuer::from_jwk(url, AUDIENCE, &self.token)?)
    }
}

/// What the file holds, or what it holds from now on.
fn keep(path: &Path, made: &str) -> Result<String, KeysError> {
    let failed = |error| KeysError::File(path.to_owned(), error);
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => {
            file.write_all(made.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
            Ok(made.to_owned())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::read_to_string(path).map_err(failed),
        Err(error) => Err(failed(error)),
    }
}
