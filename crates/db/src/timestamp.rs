//! Points in time as both engines store them: whole microseconds in UTC. Nothing here reads a
//! clock.

use std::{fmt, time::Duration};

/// A point in time: microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The text is not a date-time of RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a date-time of RFC 3339")]
pub struct NotTimestamp;

impl Timestamp {
    /// A point in time from microseconds since 1970-01-01T00:00:00Z.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Reads a date-time of RFC 3339 with any offset; digits below the microsecond are cut off.
    ///
    /// # Errors
    /// When the text is not one.
    pub fn parse(text: &str) -> Result<Self, NotTimestamp> {
        let parsed: jiff::Timestamp = text.parse().map_err(|_| NotTimestamp)?;
        Ok(Self::from_jiff(parsed))
    }

    /// The same point in time, cut to microseconds.
    pub fn from_jiff(timestamp: jiff::Timestamp) -> Self {
        Self(timestamp.as_microsecond())
    }

    /// The same point in time for calendar arithmetic. Beyond the years -9999 to 9999 it is the
    /// nearest that jiff knows.
    pub fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        })
    }

    /// The time between an earlier point and this one; zero when `earlier` is not earlier.
    pub fn since(self, earlier: Self) -> Duration {
        let micros = i128::from(self.0) - i128::from(earlier.0);
        Duration::from_micros(u64::try_from(micros.max(0)).unwrap_or(u64::MAX))
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Self;

    /// Later by `duration`, cut to microseconds; stops at the end of time.
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(micros(duration)))
    }
}

impl std::ops::Sub<Duration> for Timestamp {
    type Output = Self;

    /// Earlier by `duration`, cut to microseconds; stops at the beginning of time.
    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(micros(duration)))
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC with six places: `2026-11-20T12:00:00.000000Z`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.6}", self.to_jiff())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_time_reads_and_writes_in_utc() {
        let time = Timestamp::parse("2026-11-20T09:00:00.123456789-03:00").unwrap();
        assert_eq!(time.to_string(), "2026-11-20T12:00:00.123456Z");
        assert_eq!(Timestamp::parse(&time.to_string()), Ok(time));
        assert_eq!(
            Timestamp::from_micros(0).to_string(),
            "1970-01-01T00:00:00.000000Z"
        );
    }

    #[test]
    fn a_date_alone_is_no_point_in_time() {
        for text in ["2026-11-20", "", "yesterday", "2026-11-20T12:00:00"] {
            assert_eq!(Timestamp::parse(text), Err(NotTimestamp), "{text:?}");
        }
    }

    #[test]
    fn durations_move_it() {
        let time = Timestamp::from_micros(1_000_000);
        assert_eq!((time + Duration::from_secs(2)).micros(), 3_000_000);
        assert_eq!((time - Duration::from_secs(2)).micros(), -1_000_000);
        assert_eq!(
            (time + Duration::from_secs(2)).since(time),
            Duration::from_secs(2)
        );
        assert_eq!(time.since(time + Duration::from_secs(2)), Duration::ZERO);
        assert_eq!((time + Duration::MAX).micros(), i64::MAX);
    }
}
