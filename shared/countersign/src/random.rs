//! Randomness: ids and nonces, from the operating system.

use crate::bounded::Nonce;
use crate::digest::Digest;
use crate::failure::Failure;

/// 26 characters of lower-case base32 that nobody can guess.
pub(crate) fn tag() -> Result<String, Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(crate::bounded::tag(Digest::of_bytes(&bytes).bytes()))
}

/// A nonce for one command.
///
/// # Errors
/// When the operating system has no randomness to give.
pub fn nonce() -> Result<Nonce, Failure> {
    Nonce::parse(&tag()?).map_err(Failure::internal)
}
