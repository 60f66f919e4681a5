//! Windows in this process: a table for each kind of key, with bounded memory.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Mutex;

use db::lock_mutex;

use super::key::Counter;
use super::log::Log;
use super::quota::tightest;
use super::{Bounds, Key, Quota, Rate, RateLimitExceeded, Reserve};

/// How many counts new keys share while a table is full.
const SHARED: u64 = 1024;
/// How many times the limit of one client a shared count allows.
const SHARED_TIMES: u32 = 4;
/// A full table is searched for idle counts no more often than this, in microseconds.
const SEARCH_EVERY: i64 = 1_000_000;

#[derive(Debug)]
pub(super) struct Memory {
    bounds: Bounds,
    tables: Mutex<HashMap<&'static str, Table>>,
}

#[derive(Debug, Default)]
struct Table {
    logs: HashMap<String, Log>,
    /// Entries of all logs together.
    entries: usize,
    /// Calls since idle logs were last looked for, and when that was.
    calls: usize,
    searched_at: i64,
}

impl Memory {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            tables: Mutex::default(),
        }
    }

    pub(super) fn take(
        &self,
        now: i64,
        key: &Key,
        rates: &[Rate],
        cost: u32,
        reserve: Reserve,
    ) -> Result<Quota, RateLimitExceeded> {
        let mut tables = lock_mutex(&self.tables);
        let table = tables.entry(key.kind).or_default();
        table.remove_idle(now, self.bounds);
        table.take(now, key, self.bounds, rates, cost, reserve)
    }

    pub(super) fn release(&self, at: i64, key: &Key, cost: u32) {
        if let Some(table) = lock_mutex(&self.tables).get_mut(key.kind) {
            for counter in table.counters(key, self.bounds) {
                if let Some(log) = table.logs.get_mut(&counter.name) {
                    log.release(at, cost);
                }
            }
        }
    }

    /// How many counts are kept.
    pub(super) fn keys(&self) -> usize {
        lock_mutex(&self.tables)
            .values()
            .map(|table| table.logs.len())
            .sum()
    }
}

impl Table {
    /// Counts a call if every counter of its key allows it. A refused call makes no new count.
    fn take(
        &mut self,
        now: i64,
        key: &Key,
        bounds: Bounds,
        rates: &[Rate],
        cost: u32,
        reserve: Reserve,
    ) -> Result<Quota, RateLimitExceeded> {
        let counters = self.counters(key, bounds);
        let mut retry_after = None;
        for counter in &counters {
            let mut unseen = Log::default();
            let log = self.logs.get_mut(&counter.name).unwrap_or(&mut unseen);
            let before = log.len();
            let wait = log.wait(now, counter.rates(rates), cost, reserve);
            retry_after = retry_after.max(wait);
            self.entries = (self.entries + log.len()).saturating_sub(before);
        }
        if retry_after.is_none() && cost > 0 {
            for counter in &counters {
                let is_full = self.entries >= bounds.entries;
                let log = self.logs.entry(counter.name.clone()).or_default();
                let before = log.len();
                log.add(now, counter.rates(rates), cost, is_full);
                self.entries = (self.entries + log.len()).saturating_sub(before);
            }
        }
        let levels = counters.iter().map(|counter| {
            let rates = counter.rates(rates);
            match self.logs.get(&counter.name) {
                Some(log) => log.levels(now, rates),
                None => Log::default().levels(now, rates),
            }
        });
        let levels = tightest(rates, levels);
        match retry_after {
            None => Ok(Quota { levels }),
            Some(retry_after) => Err(RateLimitExceeded {
                retry_after,
                levels,
            }),
        }
    }

    /// The counters of a key: its own, or a shared one while the table is full. No count is dropped
    /// for a new key, and each group has a shared count of its own.
    fn counters<'key>(&self, key: &'key Key, bounds: Bounds) -> Vec<Cow<'key, Counter>> {
        let is_full = self.logs.len() >= bounds.keys || self.entries >= bounds.entries;
        let shared = || Counter {
            name: format!(
                "shared {}",
                self.logs.hasher().hash_one(key.group()) % SHARED
            ),
            times: SHARED_TIMES,
        };
        let mut counters: Vec<_> = key
            .counters
            .iter()
            .map(|counter| {
                if is_full && !self.logs.contains_key(&counter.name) {
                    Cow::Owned(shared())
                } else {
                    Cow::Borrowed(counter)
                }
            })
            .collect();
        counters.dedup();
        counters
    }

    /// Drops counts whose calls are outside of every window. It runs after as many calls as there
    /// are counts, or once a second while the table is full.
    fn remove_idle(&mut self, now: i64, bounds: Bounds) {
        self.calls += 1;
        let is_full = self.logs.len() >= bounds.keys || self.entries >= bounds.entries;
        let is_due = self.calls > self.logs.len() + 64
            || (is_full && (now - self.searched_at).abs() >= SEARCH_EVERY);
        if !is_due {
            return;
        }
        (self.calls, self.searched_at) = (0, now);
        self.logs.retain(|_, log| !log.is_idle(now));
        self.entries = self.logs.values().map(Log::len).sum();
    }
}
