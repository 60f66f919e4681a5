//! The clock, passed in: the machine's in production, a fixed one in tests, and the runtime's in
//! simulations.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use db::Timestamp;
use tokio::time::Instant;

/// Tells the time. Clones of one clock tell the same time.
#[derive(Clone, Debug)]
pub struct Clock(TimeSource);

#[derive(Clone, Debug)]
enum TimeSource {
    System(Arc<Jumps>),
    /// Microseconds since 1970, UTC.
    Fixed(Arc<AtomicI64>),
    /// Its time when it was made, and the runtime's time at that moment.
    Runtime(Timestamp, Instant),
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self(TimeSource::System(Arc::new(Jumps::begin(system_micros()))))
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
            TimeSource::System(_) => Timestamp::from_micros(system_micros()),
            TimeSource::Fixed(micros) => Timestamp::from_micros(micros.load(Ordering::SeqCst)),
            TimeSource::Runtime(then, since) => *then + since.elapsed(),
        }
    }

    /// The time now for what a wrong time must not end: a jump forward of the machine's clock counts
    /// only after it has lasted for an hour. Jumps are noticed by calls of this function.
    pub fn cautious(&self) -> Timestamp {
        let now = self.now();
        match &self.0 {
            TimeSource::System(jumps) => {
                let lately = jumps.lately(now.micros(), jumps.begun.elapsed());
                now - Duration::from_micros(lately)
            }
            TimeSource::Fixed(_) | TimeSource::Runtime(..) => now,
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

/// Compares the machine's clock with the time that passes.
#[derive(Debug)]
struct Jumps {
    begun: Instant,
    last: Mutex<Jump>,
}

/// The last jump, in microseconds.
#[derive(Debug)]
struct Jump {
    /// The clock less the time since the beginning.
    offset: i64,
    /// By how much the clock jumped forward lately.
    by: i64,
    /// When, since the beginning.
    at: i64,
}

impl Jumps {
    /// A smaller difference is no jump.
    const LEAST: u64 = 60_000_000;
    /// How long a jump counts as new.
    const NEW: i64 = 3_600_000_000;

    fn begin(clock: i64) -> Self {
        Self {
            begun: Instant::now(),
            last: Mutex::new(Jump {
                offset: clock,
                by: 0,
                at: 0,
            }),
        }
    }

    /// By how many microseconds the clock has jumped forward within the last hour.
    fn lately(&self, clock: i64, passed: Duration) -> u64 {
        let passed = i64::try_from(passed.as_micros()).unwrap_or(i64::MAX);
        let offset = clock.saturating_sub(passed);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let difference = offset.saturating_sub(last.offset);
        last.offset = offset;
        if passed - last.at >= Self::NEW {
            last.by = 0;
        }
        if difference.unsigned_abs() >= Self::LEAST {
            last.by = last.by.saturating_add(difference).max(0);
            last.at = passed;
        }
        last.by.unsigned_abs()
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
    fn a_jump_forward_counts_only_an_hour_later() {
        const MINUTE: i64 = 60_000_000;
        let jumps = Jumps::begin(1_000);
        // The clock's jumps so far and the minutes passed, and the minutes that do not count.
        for (jumped, passed, lately) in [
            (0, 1, 0),
            (61, 2, 61),
            (61, 30, 61),
            (90, 31, 90),
            (70, 40, 70),
            (70, 99, 70),
            (70, 100, 0),
            (0, 101, 0),
            (70, 102, 70),
        ] {
            let clock = 1_000 + (jumped + passed) * MINUTE;
            let passed = Duration::from_mins(passed.unsigned_abs());
            assert_eq!(jumps.lately(clock, passed), lately * MINUTE.unsigned_abs());
        }
    }

    #[test]
    fn the_system_clock_tells_a_time_after_this_was_written_and_cannot_be_moved() {
        let clock = Clock::system();
        clock.set(Timestamp::from_micros(0));
        assert!(clock.now() > Timestamp::from_micros(1_760_000_000_000_000));
    }
}
