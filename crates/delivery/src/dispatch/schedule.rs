//! When a delivery is retried, and when it is given up: the schedule that Standard Webhooks 1.0
//! suggests.

use std::time::Duration;

use db::Timestamp;
use jiff::fmt::rfc2822;

use crate::http::Outcome;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
/// Seconds before the second attempt, the third and so on. The first is made at once.
const WAITS: [u64; 9] = [
    5,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
];
/// The longest `Retry-After` of a receiver that is honoured.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * HOUR);
/// An endpoint at which every attempt has failed for this long is disabled.
pub(super) const FAILING: Duration = Duration::from_secs(5 * 24 * HOUR);

/// The next step after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextStep {
    /// The event was delivered.
    Delivered,
    /// The delivery is retried at this time.
    Again(Timestamp),
    /// The delivery is given up.
    GivenUp,
}

/// The next step after attempt number `attempt` (1 is the first). `jitter` is a number below 1000.
/// It makes a wait up to a fifth longer than the schedule, so that deliveries that failed together
/// are not retried together.
pub(super) fn next(
    attempt: i64,
    outcome: Outcome,
    postponed: Option<Duration>,
    now: Timestamp,
    jitter: u64,
) -> NextStep {
    if outcome.is_delivered() {
        return NextStep::Delivered;
    }
    let place = usize::try_from(attempt - 1).unwrap_or(0);
    match WAITS.get(place) {
        Some(seconds) => {
            let wait = Duration::from_millis(seconds * (1000 + jitter.min(999) / 5));
            NextStep::Again(now + wait.max(postponed.unwrap_or_default()))
        }
        None => NextStep::GivenUp,
    }
}

/// Parses `Retry-After`: whole seconds, or an HTTP date. At most a day.
pub fn retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    let wait = if let Ok(seconds) = text.parse::<u64>() {
        Duration::from_secs(seconds)
    } else {
        let at = rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
        Timestamp::from_jiff(at).since(now)
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[test]
    fn ten_attempts_are_made_over_three_days_and_then_it_is_given_up() {
        let mut at = NOW;
        let mut waits = Vec::new();
        for attempt in 1..10 {
            let NextStep::Again(next) = next(attempt, Outcome::TimedOut, None, at, 0) else {
                panic!("attempt {attempt}");
            };
            waits.push(next.since(at).as_secs());
            at = next;
        }
        assert_eq!(
            waits,
            [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
        );
        assert_eq!(next(10, Outcome::TimedOut, None, at, 0), NextStep::GivenUp);
    }

    #[test]
    fn jitter_makes_a_wait_up_to_a_fifth_longer() {
        let wait = |jitter| match next(2, Outcome::Answered(500), None, NOW, jitter) {
            NextStep::Again(at) => at.since(NOW).as_secs(),
            other => panic!("{other:?}"),
        };
        assert_eq!((wait(0), wait(500), wait(999)), (300, 330, 359));
    }

    #[test]
    fn only_2xx_is_delivered() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(
                next(1, Outcome::Answered(status), None, NOW, 0),
                NextStep::Delivered
            );
        }
        for status in [301, 302, 307, 400, 404, 410, 429, 500, 503] {
            assert_ne!(
                next(1, Outcome::Answered(status), None, NOW, 0),
                NextStep::Delivered,
                "{status}"
            );
        }
    }

    #[test]
    fn a_receiver_may_ask_for_a_longer_wait_but_not_for_a_shorter_one() {
        let wait = |postponed| match next(
            1,
            Outcome::Answered(429),
            Some(Duration::from_secs(postponed)),
            NOW,
            0,
        ) {
            NextStep::Again(at) => at.since(NOW).as_secs(),
            other => panic!("{other:?}"),
        };
        assert_eq!((wait(1), wait(120)), (5, 120));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_at_most_a_day() {
        let now = Timestamp::parse("1994-11-06T08:49:00Z").unwrap();
        let seconds = |text| retry_after(text, now).map(|wait| wait.as_secs());
        assert_eq!(seconds("120"), Some(120));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(37));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:40:00 GMT"), Some(0));
        assert_eq!(seconds("999999999"), Some(86_400));
        assert_eq!((seconds("soon"), seconds("-1")), (None, None));
    }
}
