//! Authorization codes: short-lived, used once, bound to whoever may redeem them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest as _, Sha256};

use super::persona::Persona;

/// How long a code may be redeemed.
const LIFETIME: Duration = Duration::from_secs(60);

/// What a code stands for.
#[derive(Debug, Clone)]
pub(super) struct Grant {
    pub(super) persona: &'static Persona,
    pub(super) client: String,
    pub(super) redirect_uri: String,
    pub(super) nonce: String,
    /// `BASE64URL(SHA256(verifier))` (<https://www.rfc-editor.org/rfc/rfc7636#section-4.2>).
    pub(super) challenge: String,
    pub(super) signed_in: SystemTime,
}

/// What whoever redeems a code has to bring.
pub(super) struct Proof<'a> {
    pub(super) client: &'a str,
    pub(super) redirect_uri: &'a str,
    pub(super) verifier: &'a str,
}

/// The codes that wait to be redeemed.
#[derive(Debug, Default)]
pub(super) struct Codes(Mutex<HashMap<String, Grant>>);

impl Codes {
    /// A new code; `None` where the system has no randomness.
    pub(super) fn issue(&self, grant: Grant) -> Option<String> {
        let code = countersign::random::nonce().ok()?.to_string();
        let mut codes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = grant.signed_in;
        codes.retain(|_, grant| grant.is_fresh(now));
        codes.insert(code.clone(), grant);
        Some(code)
    }

    /// What a code stands for, if it is redeemed as it has to be. It is used up either way.
    pub(super) fn redeem(&self, code: &str, proof: &Proof<'_>, now: SystemTime) -> Option<Grant> {
        let grant = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(code)?;
        let fits = grant.is_fresh(now)
            && grant.client == proof.client
            && grant.redirect_uri == proof.redirect_uri
            && grant.challenge == BASE64URL_NOPAD.encode(&Sha256::digest(proof.verifier.as_bytes()));
        fits.then_some(grant)
    }
}

impl Grant {
    fn is_fresh(&self, now: SystemTime) -> bool {
        now < self.signed_in + LIFETIME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // https://www.rfc-editor.org/rfc/rfc7636#appendix-B
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    const PROOF: Proof<'_> = Proof { client: "page", redirect_uri: "http://page/callback", verifier: VERIFIER };

    fn issued(codes: &Codes) -> String {
        let grant = Grant {
            persona: Persona::find("acme-approver").unwrap(),
            client: "page".into(),
            redirect_uri: "http://page/callback".into(),
            nonce: "n".into(),
            challenge: CHALLENGE.into(),
            signed_in: SystemTime::UNIX_EPOCH,
        };
        codes.issue(grant).unwrap()
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn a_code_is_redeemed_once_by_whoever_it_is_bound_to() {
        let codes = Codes::default();
        let code = issued(&codes);
        assert!(codes.redeem(&code, &PROOF, at(59)).is_some());
        assert!(codes.redeem(&code, &PROOF, at(59)).is_none());
    }

    #[test]
    fn any_wrong_proof_uses_the_code_up() {
        let codes = Codes::default();
        let wrong = [
            (Proof { client: "other", ..PROOF }, 0),
            (Proof { redirect_uri: "http://page/callback/", ..PROOF }, 0),
            (Proof { verifier: CHALLENGE, ..PROOF }, 0),
            (PROOF, 60),
        ];
        for (proof, seconds) in wrong {
            let code = issued(&codes);
            assert!(codes.redeem(&code, &proof, at(seconds)).is_none());
            assert!(codes.redeem(&code, &PROOF, at(0)).is_none());
        }
    }
}
