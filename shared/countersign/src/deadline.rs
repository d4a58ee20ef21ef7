//! Deadlines: how long a call may still take. Nothing is started that cannot be finished.

use std::time::{Duration, Instant, SystemTime};

/// The moment at which Lambda ends the call, on the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline(Instant);

impl Deadline {
    /// A deadline so long from now.
    #[must_use]
    pub fn within(left: Duration) -> Self {
        Self(Instant::now() + left)
    }

    /// Reads Lambda's deadline in milliseconds since 1970. One that is past, or further away than Lambda's own maximum
    /// of 15 minutes, says nothing (`cargo lambda watch` sends a constant in 1970): the function's configured timeout
    /// counts then.
    ///
    /// `now` is as fine as the deadline: in whole seconds, a call would seem to have up to one second more than it has.
    #[must_use]
    pub fn from_lambda(deadline_ms: u64, now: SystemTime, timeout: Duration) -> Self {
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let left = Duration::from_millis(deadline_ms).saturating_sub(since);
        let sane = !left.is_zero() && left <= Duration::from_secs(15 * 60 + 1);
        Self::within(if sane { left } else { timeout })
    }

    /// How long is left.
    #[must_use]
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_makes_no_sense_counts_as_the_configured_timeout() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(1_796_083_200_900);
        let timeout = Duration::from_secs(10);
        for nonsense in [0, 600_000, u64::MAX, 1_796_083_200_000 + 20 * 60 * 1000] {
            assert!(Deadline::from_lambda(nonsense, now, timeout).left() > Duration::from_secs(9), "{nonsense}");
        }
        let true_one = Deadline::from_lambda(1_796_083_200_900 + 3_000, now, timeout).left();
        assert!(true_one <= Duration::from_secs(3));
    }
}
