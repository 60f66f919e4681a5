//! The counters: in this process, or shared with other replicas.

use std::sync::Arc;
use std::time::Duration;

use super::memory::Memory;
use super::redis::{AddressError, RedisWindows, TIMEOUT};
use super::{Key, Level, Quota, Rate, RateLimitExceeded};
use crate::{Clock, Random};

/// How much memory the windows of one process may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most keys of one kind. Counts are never evicted: beyond it, new keys share a few counts.
    pub keys: usize,
    /// The most calls remembered, of all keys of a kind together; some 16 bytes each.
    pub entries: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            keys: 50_000,
            entries: 2_000_000,
        }
    }
}

/// The part of each window that a call must leave to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reserve {
    /// Nothing: the call may take the last of the quota.
    #[default]
    Nothing,
    /// The last fifth: for work in the background, so that it never takes what people are waiting
    /// for.
    Fifth,
}

impl Reserve {
    /// The limit that holds for such a caller.
    pub const fn limit(self, rate: Rate) -> u32 {
        match self {
            Self::Nothing => rate.limit(),
            Self::Fifth => rate.limit() - rate.limit() / 5,
        }
    }
}

/// Exact sliding windows by key. Clones share their counts.
#[derive(Clone, Debug)]
pub struct Windows(Arc<WindowStores>);

/// A counted call, for [`Windows::release`].
#[derive(Debug)]
pub struct CountedCall {
    key: Key,
    cost: u32,
    mark: Mark,
}

/// The name of a counted call.
#[derive(Debug)]
struct Mark {
    /// When it was counted in this process, in microseconds.
    at: i64,
    /// Its name on the server, if it was counted there.
    call_id: Option<String>,
}

#[derive(Debug)]
struct WindowStores {
    clock: Clock,
    memory: Memory,
    redis: Option<RedisWindows>,
}

impl Windows {
    /// Windows in this process, within the usual bounds.
    pub fn memory(clock: Clock) -> Self {
        Self::bounded(clock, Bounds::default())
    }

    /// Windows in this process, within the given bounds.
    pub fn bounded(clock: Clock, bounds: Bounds) -> Self {
        Self(Arc::new(WindowStores {
            clock,
            memory: Memory::new(bounds),
            redis: None,
        }))
    }

    /// Windows shared through Redis or Valkey by every replica that uses the same address and
    /// prefix, on the server's time.
    ///
    /// Nothing is connected yet. This process always counts too, and a call must fit both counts,
    /// so that one process never exceeds a rate in an outage. While the server cannot be reached,
    /// only this process counts. The beginning and the end of an outage are logged.
    ///
    /// # Errors
    /// When the address is none of Redis.
    pub fn redis(
        address: &str,
        prefix: &str,
        clock: Clock,
        random: Random,
    ) -> Result<Self, AddressError> {
        Self::redis_within(TIMEOUT, address, prefix, clock, random)
    }

    /// As [`Windows::redis`], for a server that may take longer or less long than half a second to
    /// answer.
    ///
    /// # Errors
    /// When the address is none of Redis.
    pub fn redis_within(
        timeout: Duration,
        address: &str,
        prefix: &str,
        clock: Clock,
        random: Random,
    ) -> Result<Self, AddressError> {
        let redis = RedisWindows::new(timeout, address, prefix, random)?;
        Ok(Self(Arc::new(WindowStores {
            clock,
            memory: Memory::new(Bounds::default()),
            redis: Some(redis),
        })))
    }

    /// Counts a call of `cost` for `key` if every rate allows it; a cost of 0 only asks. A refused
    /// call is not counted.
    ///
    /// # Errors
    /// [`RateLimitExceeded`] with the time to wait.
    pub async fn take(
        &self,
        key: &Key,
        rates: &[Rate],
        cost: u32,
        reserve: Reserve,
    ) -> Result<Quota, RateLimitExceeded> {
        let counted = self.count(key, rates, cost, reserve).await;
        counted.map(|(quota, _)| quota)
    }

    /// The levels of the windows after a call of `cost`, which is counted only if it fits: one for
    /// each rate.
    pub async fn levels(&self, key: &Key, rates: &[Rate], cost: u32) -> Vec<Level> {
        let quota = self.take(key, rates, cost, Reserve::Nothing).await;
        quota.map_or_else(|refused| refused.levels, |quota| quota.levels)
    }

    /// As [`Windows::take`], for a call that may be released.
    ///
    /// # Errors
    /// [`RateLimitExceeded`] with the time to wait.
    pub async fn hold(
        &self,
        key: &Key,
        rates: &[Rate],
        cost: u32,
    ) -> Result<CountedCall, RateLimitExceeded> {
        let (_, mark) = self.count(key, rates, cost, Reserve::Nothing).await?;
        Ok(CountedCall {
            key: key.clone(),
            cost: if rates.is_empty() { 0 } else { cost },
            mark,
        })
    }

    /// Removes a counted call, as if it had not been made.
    pub async fn release(&self, call: CountedCall) {
        let CountedCall { key, cost, mark } = call;
        self.0.memory.release(mark.at, &key, cost);
        if let Some((redis, call_id)) = self.0.redis.as_ref().zip(mark.call_id) {
            let now = self.0.clock.now().micros();
            redis.release(now, &key, &call_id, cost).await;
        }
    }

    async fn count(
        &self,
        key: &Key,
        rates: &[Rate],
        cost: u32,
        reserve: Reserve,
    ) -> Result<(Quota, Mark), RateLimitExceeded> {
        let WindowStores {
            clock,
            memory,
            redis,
        } = &*self.0;
        let now = clock.now().micros();
        let mark = |call_id| Mark { at: now, call_id };
        if rates.is_empty() {
            return Ok((Quota::default(), mark(None)));
        }
        let local = memory.take(now, key, rates, cost, reserve)?;
        let Some(redis) = redis else {
            return Ok((local, mark(None)));
        };
        let call_id = redis.call_id();
        // Boxed, so that requests without Redis do not carry this future.
        let reply = Box::pin(redis.take(now, key, &call_id, rates, cost, reserve));
        match reply.await {
            Some(Err(throttled)) => {
                memory.release(now, key, cost);
                Err(throttled)
            }
            Some(Ok(quota)) => Ok((quota, mark(Some(call_id)))),
            None => Ok((local, mark(None))),
        }
    }

    /// How many keys this process remembers.
    pub fn keys(&self) -> usize {
        self.0.memory.keys()
    }
}
