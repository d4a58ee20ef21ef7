//! Webhooks: what Stripe tells unasked, once it is certain that Stripe tells it. An event is a hint to look, never proof.
//!
//! Events arrive at least once and in any order: <https://docs.stripe.com/webhooks>.

mod event;
mod signature;

use countersign::clock::Timestamp;
use countersign::config::{Config, ConfigError};

pub use event::{Event, Hint};

/// The largest `Stripe-Signature` header that is read.
const HEADER: usize = 8 * 1024;
/// The largest body that is read. An event about a refund has some three kilobytes.
const BODY: usize = 256 * 1024;

/// Why a delivery is not believed. None of it repeats what was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Header or body are larger than any of Stripe's.
    #[error("the delivery is larger than an event of the provider's")]
    TooLarge,
    /// The header is none of Stripe's.
    #[error("the `Stripe-Signature` header cannot be read")]
    Header,
    /// No signature is one of these secrets'.
    #[error("no signature in the `Stripe-Signature` header fits the body")]
    Signature,
    /// It was signed more than five minutes ago, or ahead: a replay, or a clock that is wrong.
    #[error("the delivery was signed at another time than now")]
    Time,
    /// What was signed is no event.
    #[error("the event cannot be read")]
    Event,
}

/// The secrets of the endpoint: two while one is rolled (<https://docs.stripe.com/webhooks#roll-endpoint-secrets>).
pub struct Secrets(Vec<String>);

impl Secrets {
    /// `COUNTERSIGN_WEBHOOK_SECRET`: one or several, with commas or spaces between them.
    ///
    /// # Errors
    /// When it is absent, or one is no signing secret of Stripe's.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        const NAME: &str = "COUNTERSIGN_WEBHOOK_SECRET";
        let text = config.text(NAME)?;
        Self::parse(&text).ok_or_else(|| ConfigError::new(NAME, "does not consist of signing secrets, `whsec_...`"))
    }

    /// Secrets with commas or white space between them.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let separator = |c: char| c == ',' || c.is_whitespace();
        let secrets: Vec<_> = text.split(separator).filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let usable = |secret: &String| secret.strip_prefix("whsec_").is_some_and(|rest| rest.len() >= 16);
        (!secrets.is_empty() && secrets.iter().all(usable)).then_some(Self(secrets))
    }
}

/// The event that was delivered, if Stripe signed exactly this body less than five minutes from now.
///
/// # Errors
/// When it did not, or when what it signed is no event.
pub fn verify(secrets: &Secrets, header: &str, body: &[u8], now: Timestamp) -> Result<Event, Refused> {
    if header.len() > HEADER || body.len() > BODY {
        return Err(Refused::TooLarge);
    }
    signature::check(&secrets.0, header, body, now)?;
    Event::parse(body)
}

#[cfg(test)]
mod tests;
