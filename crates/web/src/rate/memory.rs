//! Windows in this process: one log for each key, with bounded memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::log::Log;
use super::{Bounds, Rate, Reserve, Standing, Throttled};

#[derive(Debug)]
pub(super) struct Memory {
    bounds: Bounds,
    logs: Mutex<Logs>,
}

#[derive(Debug, Default)]
struct Logs {
    by_key: HashMap<String, Log>,
    /// Entries of all logs together.
    entries: usize,
    /// Calls since idle keys were last looked for.
    calls: usize,
}

impl Memory {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            logs: Mutex::default(),
        }
    }

    pub(super) fn take(
        &self,
        now: i64,
        key: &str,
        rates: &[Rate],
        cost: u32,
        reserve: Reserve,
    ) -> Result<Standing, Throttled> {
        let mut logs = self.lock();
        logs.tidy(now, self.bounds);
        if !logs.by_key.contains_key(key) {
            logs.by_key.insert(key.to_owned(), Log::default());
        }
        let Some(log) = logs.by_key.get_mut(key) else {
            return Ok(Standing::default());
        };
        let before = log.len();
        let answer = log.take(now, rates, cost, reserve);
        let after = log.len();
        logs.entries = (logs.entries + after).saturating_sub(before);
        answer
    }

    pub(super) fn give_back(&self, at: i64, key: &str, cost: u32) {
        if let Some(log) = self.lock().by_key.get_mut(key) {
            log.give_back(at, cost);
        }
    }

    /// How many keys are remembered.
    pub(super) fn keys(&self) -> usize {
        self.lock().by_key.len()
    }

    fn lock(&self) -> MutexGuard<'_, Logs> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Logs {
    /// Drops idle keys every so often, and when a bound is reached the least recently used tenth as well.
    ///
    /// Each look at all keys is paid for by as many calls before it, so a call costs the same however many keys there are.
    fn tidy(&mut self, now: i64, bounds: Bounds) {
        self.calls += 1;
        let is_full = self.by_key.len() >= bounds.keys || self.entries >= bounds.entries;
        if !is_full && self.calls <= self.by_key.len() + 64 {
            return;
        }
        self.calls = 0;
        self.by_key.retain(|_, log| !log.is_idle(now));
        let is_full = self.by_key.len() >= bounds.keys || self.entries() >= bounds.entries;
        if is_full {
            self.drop_oldest_tenth();
        }
        self.entries = self.entries();
    }

    fn entries(&self) -> usize {
        self.by_key.values().map(Log::len).sum()
    }

    fn drop_oldest_tenth(&mut self) {
        let mut moments: Vec<i64> = self.by_key.values().map(Log::last).collect();
        let tenth = moments.len() / 10;
        let (_, threshold, _) = moments.select_nth_unstable(tenth);
        let (threshold, mut left) = (*threshold, tenth + 1);
        self.by_key.retain(|_, log| {
            let is_old = log.last() <= threshold && left > 0;
            left -= usize::from(is_old);
            !is_old
        });
    }
}
