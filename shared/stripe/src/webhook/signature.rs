//! The signature over time and raw body: <https://docs.stripe.com/webhooks#verify-manually>.

use countersign::clock::Timestamp;
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::Refused;

/// How far the time of signing may be from now, in seconds: what Stripe's libraries allow, and ahead as much as behind.
const TOLERANCE: u64 = 300;

/// What a header says: `t=…,v1=…[,v1=…]`, with one signature for each live secret.
struct Signed<'a> {
    /// Seconds since 1970, as they were signed.
    time: &'a str,
    signatures: Vec<Vec<u8>>,
}

/// Whether one of the secrets signed this body, now.
pub(super) fn check(secrets: &[String], header: &str, body: &[u8], now: Timestamp) -> Result<(), Refused> {
    let Signed { time, signatures } = Signed::parse(header).ok_or(Refused::Header)?;
    let signed = secrets.iter().any(|secret| is_by(secret, time, body, &signatures));
    if !signed {
        return Err(Refused::Signature);
    }
    let time: i64 = time.parse().map_err(|_| Refused::Header)?;
    if time.abs_diff(now.seconds()) > TOLERANCE { Err(Refused::Time) } else { Ok(()) }
}

impl<'a> Signed<'a> {
    fn parse(header: &'a str) -> Option<Self> {
        let (mut time, mut signatures) = (None, Vec::new());
        for part in header.split(',') {
            match part.trim().split_once('=')? {
                ("t", value) if time.is_none() && is_time(value) => time = Some(value),
                ("t", _) => return None,
                ("v1", value) => signatures.push(HEXLOWER.decode(value.as_bytes()).ok()?),
                // `v0` is for Stripe's own tests; what else there is or will be proves nothing.
                _ => {}
            }
        }
        Some(Self { time: time?, signatures })
    }
}

fn is_time(value: &str) -> bool {
    (1..=12).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether one of the signatures is this secret's, compared in constant time. The body is gone through once, however many
/// a stranger has written down.
fn is_by(secret: &str, time: &str, body: &[u8], signatures: &[Vec<u8>]) -> bool {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return false };
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body);
    signatures.iter().any(|signature| mac.clone().verify_slice(signature).is_ok())
}
