//! The outcome of counting a call: allowed with a quota left, or throttled; and the response
//! headers for both.

use std::fmt::Write;
use std::time::Duration;

use http::header::{HeaderName, HeaderValue};

use super::Rate;

/// One window after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The rate of the window.
    pub rate: Rate,
    /// How many more it allows now.
    pub remaining: u32,
    /// When the oldest call leaves the window, so that more is allowed; zero for an empty window.
    pub reset_after: Duration,
}

/// What is left after a call that was allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// One level for each rate, in the order of the rates.
    pub levels: Vec<Level>,
}

/// A call that was refused, and not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimitExceeded {
    /// After this time the same call is allowed, if no other comes before it.
    pub retry_after: Duration,
    /// One level for each rate, in the order of the rates.
    pub levels: Vec<Level>,
}

/// The levels for the headers when a call has several counts: for each rate the lowest remaining
/// quota, relative to one client's limit.
pub(super) fn tightest(rates: &[Rate], counts: impl Iterator<Item = Vec<Level>>) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    for count in counts {
        if levels.is_empty() {
            levels = count;
            continue;
        }
        for (level, other) in levels.iter_mut().zip(count) {
            if other.remaining < level.remaining {
                *level = other;
            }
        }
    }
    for (level, rate) in levels.iter_mut().zip(rates) {
        level.rate = *rate;
        level.remaining = level.remaining.min(rate.limit());
    }
    levels
}

impl RateLimitExceeded {
    /// The time to wait in whole seconds, rounded up, at least 1.
    pub fn retry_after_seconds(&self) -> u64 {
        rounded_up(self.retry_after).max(1)
    }
}

/// The names of the headers.
pub(super) const NAMES: [HeaderName; 2] = [
    HeaderName::from_static("ratelimit-policy"),
    HeaderName::from_static("ratelimit"),
];

/// Room for a list of two windows.
const USUAL_LENGTH: usize = 64;

/// `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10 and -11): structured
/// field lists of one item for each window.
///
/// The name of a policy is its period; `q` is the quota and `w` the window in seconds, `r` what
/// remains and `t` the seconds until more is allowed.
pub(super) fn headers(levels: &[Level]) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    let mut policy = String::with_capacity(USUAL_LENGTH);
    let mut limit = String::with_capacity(USUAL_LENGTH);
    for Level {
        rate,
        remaining,
        reset_after,
    } in levels
    {
        let comma = if policy.is_empty() { "" } else { ", " };
        let (name, quota, window) = (rate.per().name(), rate.limit(), rate.per().seconds());
        // Writing to a string does not fail.
        let _ = write!(policy, "{comma}\"{name}\";q={quota};w={window}");
        let _ = write!(
            limit,
            "{comma}\"{name}\";r={remaining};t={}",
            rounded_up(*reset_after)
        );
    }
    NAMES
        .into_iter()
        .zip([policy, limit])
        .filter(|(_, value)| !value.is_empty())
        .filter_map(|(name, value)| Some((name, HeaderValue::try_from(value).ok()?)))
}

fn rounded_up(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::Period;

    #[test]
    fn the_headers_are_lists_of_structured_fields() {
        let level = |rate, remaining, millis| Level {
            rate,
            remaining,
            reset_after: Duration::from_millis(millis),
        };
        let levels = [
            level(Rate::new(100, Period::Minute), 99, 60_000),
            level(Rate::new(1000, Period::Hour), 0, 1),
        ];
        let headers: Vec<_> = headers(&levels)
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        assert_eq!(
            headers,
            [
                "ratelimit-policy: \"minute\";q=100;w=60, \"hour\";q=1000;w=3600",
                "ratelimit: \"minute\";r=99;t=60, \"hour\";r=0;t=1"
            ]
        );
    }

    #[test]
    fn waiting_times_are_rounded_up_to_at_least_a_second() {
        let seconds = |millis| {
            RateLimitExceeded {
                retry_after: Duration::from_millis(millis),
                levels: Vec::new(),
            }
            .retry_after_seconds()
        };
        assert_eq!(
            [seconds(0), seconds(1), seconds(1000), seconds(1001)],
            [1, 1, 1, 2]
        );
    }
}
