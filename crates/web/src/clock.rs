//! The clock, passed in: the machine's in production, a fixed one in tests, and the runtime's in
//! simulations.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use db::Timestamp;
use tokio::time::Instant;

/// Tells the time. Clones of one clock tell the same time.
#[derive(Clone, Debug)]
pub struct Clock(TimeSource);

#[derive(Clone, Debug)]
enum TimeSource {
    System,
    /// Microseconds since 1970, UTC.
    Fixed(Arc<AtomicI64>),
    /// Its time when it was made, and the runtime's time at that moment.
    Runtime(Timestamp, Instant),
}

impl Clock {
    /// The machine's clock.
    pub const fn system() -> Self {
        Self(TimeSource::System)
    }

    /// A clock that stands at `now` until [`Clock::advance`] or [`Clock::set`] moves it.
    pub fn fixed(now: Timestamp) -> Self {
        Self(TimeSource::Fixed(Arc::new(AtomicI64::new(now.micros()))))
    }

    /// A clock that starts at `now` and advances with the runtime's time. A simulation that pauses
    /// and advances the runtime's time so moves this clock together with all timers. Two clocks
    /// keep the difference that they were made with.
    pub fn of_runtime(now: Timestamp) -> Self {
        Self(TimeSource::Runtime(now, Instant::now()))
    }

    /// The time now, to the microsecond, UTC.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            TimeSource::System => Timestamp::from_micros(system_micros()),
            TimeSource::Fixed(micros) => Timestamp::from_micros(micros.load(Ordering::SeqCst)),
            TimeSource::Runtime(then, since) => *then + since.elapsed(),
        }
    }

    /// Moves a fixed clock forward. The machine's clock is left as it is.
    pub fn advance(&self, by: Duration) {
        if let TimeSource::Fixed(micros) = &self.0 {
            let by = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
            micros.fetch_add(by, Ordering::SeqCst);
        }
    }

    /// Moves a fixed clock to `now`, backwards too. The machine's clock is left as it is.
    pub fn set(&self, now: Timestamp) {
        if let TimeSource::Fixed(micros) = &self.0 {
            micros.store(now.micros(), Ordering::SeqCst);
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the machine's clock"
)]
fn system_micros() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_moves_only_when_told_and_its_clones_move_along() {
        let clock = Clock::fixed(Timestamp::from_micros(1_000_000));
        let other = clock.clone();
        clock.advance(Duration::from_millis(1));
        assert_eq!(other.now(), Timestamp::from_micros(1_001_000));
        other.set(Timestamp::from_micros(5));
        assert_eq!(clock.now(), Timestamp::from_micros(5));
    }

    #[test]
    fn the_system_clock_tells_a_time_after_this_was_written_and_cannot_be_moved() {
        let clock = Clock::system();
        clock.set(Timestamp::from_micros(0));
        assert!(clock.now() > Timestamp::from_micros(1_760_000_000_000_000));
    }
}
