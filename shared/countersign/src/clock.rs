//! Time: whole seconds since 1970, read in one place.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::{Duration, SystemTime};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::bounded;

/// A moment in whole seconds since 1970-01-01T00:00:00Z; as JSON an RFC 3339 text in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment so many seconds after 1970 began.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds)
    }

    /// Seconds since 1970 began.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0
    }

    /// The wall clock's present.
    #[must_use]
    pub fn now() -> Self {
        let since = wall_clock().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    }
}

/// The wall clock's present, where whole seconds are too coarse.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub fn wall_clock() -> SystemTime {
    SystemTime::now()
}

/// Where a use case gets its present from: [`Timestamp::now`] in a function, anything in a test.
pub trait Clock: Fn() -> Timestamp + Send + Sync {}
impl<F: Fn() -> Timestamp + Send + Sync> Clock for F {}

impl Add<Duration> for Timestamp {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add_unsigned(duration.as_secs()))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;
    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub_unsigned(duration.as_secs()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = OffsetDateTime::from_unix_timestamp(self.0).ok().and_then(|moment| moment.format(&Rfc3339).ok());
        f.write_str(&text.unwrap_or_else(|| self.0.to_string()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let moment = OffsetDateTime::parse(&text, &Rfc3339).map_err(de::Error::custom)?;
        Ok(Self(moment.unix_timestamp()))
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let keywords = json_schema!({ "type": "string", "format": "date-time", "maxLength": 20 });
        let bounds = "RFC 3339 in UTC, at most 20 characters, e.g. 2026-12-01T00:00:00Z.";
        bounded::private::schema(keywords, bounds.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_in_utc_and_read_back() {
        let moment = Timestamp::from_seconds(1_796_083_200);
        assert_eq!(moment.to_string(), "2026-12-01T00:00:00Z");
        let read: Timestamp = serde_json::from_str("\"2026-12-01T00:00:00Z\"").unwrap();
        assert_eq!(read, moment);
    }
}
