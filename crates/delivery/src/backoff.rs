//! Exponential backoff.

use std::time::Duration;

/// The wait after this many failed attempts: `first`, then twice as long each time, at most `max`.
pub fn backoff(first: Duration, tries: i64, max: Duration) -> Duration {
    let doublings = u32::try_from(tries.clamp(0, 30)).unwrap_or(30);
    first.saturating_mul(2_u32.pow(doublings)).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let wait =
            |tries| backoff(Duration::from_secs(2), tries, Duration::from_secs(60)).as_secs();
        assert_eq!([-1, 0, 1, 4, 5, i64::MAX].map(wait), [2, 2, 4, 32, 60, 60]);
    }
}
