//! The issuer's keys as they were last seen, and when they are asked for again: decisions alone, without a request.
//!
//! Times are the wall clock's: a function is frozen between calls, and a clock that only counts while it runs would keep
//! keys too long.

use std::time::Duration;

use countersign::clock::Timestamp;
use jsonwebtoken::jwk::{Jwk, JwkSet};

/// So long a key set is used without asking whether it is still the issuer's.
pub(crate) const FRESH: Duration = Duration::from_secs(10 * 60);
/// So long it is used while the issuer cannot be reached. A key that the issuer withdraws meanwhile is still believed.
pub(crate) const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// After a request none follows for so long while there are keys to use: tokens with invented keys, and an issuer that
/// is down, would otherwise cost a request a call.
pub(crate) const PAUSE: Duration = Duration::from_secs(30);

/// What is held of the issuer's keys.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    held: Option<Held>,
    /// When the last request was made that a pause follows.
    asked: Option<Timestamp>,
    /// Whether the last request brought no keys.
    failed: bool,
}

#[derive(Debug)]
struct Held {
    keys: JwkSet,
    fetched: Timestamp,
}

/// Why there is no key of this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoKey {
    /// The issuer has none, as far as it was heard.
    Unknown,
    /// The issuer could not be asked.
    Unreachable,
}

impl Cache {
    /// Whether the issuer is to be asked now, before a token of this key is looked at. A yes counts as a request.
    pub(crate) fn ask(&mut self, kid: &str, now: Timestamp) -> bool {
        let Some(held) = self.usable(now) else { return true };
        let fresh = within(held.fetched, FRESH, now) && held.keys.find(kid).is_some();
        if fresh || self.asked.is_some_and(|asked| within(asked, PAUSE, now)) {
            return false;
        }
        self.asked = Some(now);
        true
    }

    /// Takes what a request brought. Without a key set the one that is held stays, and with it its age.
    pub(crate) fn take(&mut self, fetched: Option<JwkSet>, now: Timestamp) {
        self.failed = fetched.is_none();
        if let Some(keys) = fetched {
            self.held = Some(Held { keys, fetched: now });
        }
    }

    /// The key of this name.
    pub(crate) fn find(&self, kid: &str, now: Timestamp) -> Result<Jwk, NoKey> {
        let found = self.usable(now).and_then(|held| held.keys.find(kid));
        found.cloned().ok_or(if self.failed { NoKey::Unreachable } else { NoKey::Unknown })
    }

    fn usable(&self, now: Timestamp) -> Option<&Held> {
        self.held.as_ref().filter(|held| now < held.fetched + KEPT)
    }
}

/// Whether it is less than `span` since `start`. A clock that was set back says no: it is then not known how long it is.
fn within(start: Timestamp, span: Duration, now: Timestamp) -> bool {
    (start..start + span).contains(&now)
}

#[cfg(test)]
mod tests;
