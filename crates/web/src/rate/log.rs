//! The calls of one key, oldest first: the exact count of any window up to the longest, found
//! without scanning them.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use db::Timestamp;

use super::{Level, Rate, RateLimitExceeded, Reserve};

/// Calls at one moment, in microseconds, and the running total up to and with them.
#[derive(Clone, Copy, Debug)]
struct LogEntry {
    at: i64,
    total: u64,
}

/// The calls of one key.
#[derive(Clone, Debug, Default)]
pub struct Log {
    entries: VecDeque<LogEntry>,
    /// The running total before the first entry.
    base: u64,
    /// The longest window asked for, in microseconds.
    longest: i64,
}

impl Log {
    /// Counts a call of `cost` at `now` if every rate allows it.
    ///
    /// # Errors
    /// [`RateLimitExceeded`] with the time to wait.
    pub fn take(
        &mut self,
        now: Timestamp,
        rates: &[Rate],
        cost: u32,
    ) -> Result<(), RateLimitExceeded> {
        let (now, rates) = (now.micros(), rates.iter().copied());
        if let Some(retry_after) = self.wait(now, rates.clone(), cost, Reserve::Nothing) {
            let levels = self.levels(now, rates);
            return Err(RateLimitExceeded {
                retry_after,
                levels,
            });
        }
        self.add(now, rates, cost, false);
        Ok(())
    }

    /// How long a call of `cost` must wait at `now`; `None` for no wait.
    pub(super) fn wait(
        &mut self,
        now: i64,
        rates: impl Iterator<Item = Rate> + Clone,
        cost: u32,
        reserve: Reserve,
    ) -> Option<Duration> {
        self.advance_to(now, rates.clone());
        rates
            .filter_map(|rate| self.wait_for(now, rate, cost, reserve))
            .max()
    }

    /// Counts a call of `cost`. While memory is full it adds no entry: the last calls of this key
    /// then count from now.
    pub(super) fn add(
        &mut self,
        now: i64,
        rates: impl Iterator<Item = Rate>,
        cost: u32,
        is_full: bool,
    ) {
        self.advance_to(now, rates);
        let total = self.total() + u64::from(cost);
        match self.entries.back_mut() {
            Some(last) if is_full || last.at == now => *last = LogEntry { at: now, total },
            _ => self.entries.push_back(LogEntry { at: now, total }),
        }
    }

    /// Removes a call that was counted at `at`, in microseconds.
    pub fn release(&mut self, at: i64, cost: u32) {
        let from = self.entries.partition_point(|entry| entry.at < at);
        for entry in self.entries.range_mut(from..) {
            entry.total = entry.total.saturating_sub(u64::from(cost));
        }
    }

    /// Whether no call of the log counts any more at `now`.
    pub(super) fn is_idle(&self, now: i64) -> bool {
        self.entries
            .back()
            .is_none_or(|last| last.at <= now - self.longest)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Removes calls outside of every window. Calls from the future, after a clock was set back,
    /// count from now.
    fn advance_to(&mut self, now: i64, rates: impl Iterator<Item = Rate>) {
        let lengths = rates.map(length);
        self.longest = lengths.fold(self.longest, i64::max);
        for entry in self
            .entries
            .iter_mut()
            .rev()
            .take_while(|entry| entry.at > now)
        {
            entry.at = now;
        }
        while let Some(first) = self
            .entries
            .front()
            .filter(|first| first.at <= now - self.longest)
        {
            self.base = first.total;
            self.entries.pop_front();
        }
    }

    fn total(&self) -> u64 {
        self.entries.back().map_or(self.base, |last| last.total)
    }

    /// The index of the first entry inside the window, and the running total before it. A call
    /// exactly one length ago has left.
    fn window(&self, now: i64, rate: Rate) -> (usize, u64) {
        let start = self
            .entries
            .partition_point(|entry| entry.at <= now - length(rate));
        let before = start
            .checked_sub(1)
            .and_then(|index| self.entries.get(index));
        (start, before.map_or(self.base, |entry| entry.total))
    }

    /// How long the call must wait for one rate; `None` for no wait. A cost above the limit waits a
    /// whole window.
    fn wait_for(&self, now: i64, rate: Rate, cost: u32, reserve: Reserve) -> Option<Duration> {
        let limit = u64::from(reserve.limit(rate));
        let (start, before) = self.window(now, rate);
        let excess = (self.total() - before + u64::from(cost))
            .checked_sub(limit)
            .filter(|excess| *excess > 0)?;
        let leaving = self
            .entries
            .range(start..)
            .find(|entry| entry.total - before >= excess);
        Some(leaving.map_or(rate.per().length(), |entry| until_gone(entry.at, now, rate)))
    }

    pub(super) fn levels(&self, now: i64, rates: impl Iterator<Item = Rate>) -> Vec<Level> {
        let level = |rate: Rate| {
            let (start, before) = self.window(now, rate);
            let used = u32::try_from(self.total() - before).unwrap_or(u32::MAX);
            let reset_after = self
                .entries
                .get(start)
                .map_or(Duration::ZERO, |first| until_gone(first.at, now, rate));
            Level {
                rate,
                remaining: rate.limit().saturating_sub(used),
                reset_after,
            }
        };
        rates.map(level).collect()
    }
}

fn length(rate: Rate) -> i64 {
    i64::from(rate.per().seconds()) * 1_000_000
}

fn until_gone(at: i64, now: i64, rate: Rate) -> Duration {
    Duration::from_micros(u64::try_from(at + length(rate) - now).unwrap_or(0))
}

impl fmt::Display for Log {
    /// Each moment with the number of calls in it, for windows that a database keeps:
    /// `1700000000000000x1 1700000000000500x2`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = self.base;
        let mut space = "";
        for LogEntry { at, total } in &self.entries {
            let count = total.saturating_sub(before);
            // A released call leaves a moment without calls.
            if count > 0 {
                write!(formatter, "{space}{at}x{count}")?;
                space = " ";
            }
            before = *total;
        }
        Ok(())
    }
}

/// A text that is no log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no log of calls")]
pub struct LogError;

impl FromStr for Log {
    type Err = LogError;

    fn from_str(text: &str) -> Result<Self, LogError> {
        let mut log = Self::default();
        for part in text.split_whitespace() {
            let (at, count) = part.split_once('x').ok_or(LogError)?;
            let at = at.parse().map_err(|_| LogError)?;
            let count: u32 = count.parse().map_err(|_| LogError)?;
            let total = log.total() + u64::from(count);
            log.entries.push_back(LogEntry { at, total });
        }
        Ok(log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::Period;

    #[test]
    fn a_log_is_read_as_it_was_written_also_after_its_first_call_was_given_back() {
        let at = |micros| Timestamp::from_micros(micros);
        let rates = [Rate::new(3, Period::Minute)];
        let mut log = Log::default();
        for micros in [1, 2, 2] {
            assert!(log.take(at(micros), &rates, 1).is_ok());
        }
        log.release(1, 1);
        assert_eq!(log.to_string(), "2x2");
        assert!(log.take(at(3), &rates, 1).is_ok());
        let mut again: Log = log.to_string().parse().unwrap();
        assert_eq!(again.to_string(), "2x2 3x1");
        assert!(again.take(at(4), &rates, 1).is_err());
    }
}
