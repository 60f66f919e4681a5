//! Windows in Redis or Valkey: one sorted set for each key, one script that counts and adds in one
//! step, on the server's clock.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, Script};
use tokio::sync::Mutex;

use super::key::Counter;
use super::quota::tightest;
use super::{Key, Level, Quota, Rate, RateLimitExceeded, Reserve};
use crate::Random;

/// After this time the request goes on with the count of this process.
pub(super) const TIMEOUT: Duration = Duration::from_millis(500);

/// After a failure the server is not called for so long, in microseconds, so that an outage does
/// not slow every request.
const PAUSE: i64 = 1_000_000;

pub(super) struct RedisWindows {
    client: Client,
    timeout: Duration,
    connection: Mutex<Option<MultiplexedConnection>>,
    script: Script,
    prefix: String,
    random: Random,
    is_down: AtomicBool,
    /// The moment of the last failure, in microseconds.
    failed_at: AtomicI64,
}

/// An address that is none of Redis. The text does not repeat it: it may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not an address of Redis or Valkey: write redis://host:port/ or redis://user:password@host:port/database"
)]
pub struct AddressError;

/// Whether the windows can be on the server at this address.
pub fn is_redis_address(address: &str) -> bool {
    Client::open(address).is_ok()
}

impl RedisWindows {
    pub(super) fn new(
        timeout: Duration,
        address: &str,
        prefix: &str,
        random: Random,
    ) -> Result<Self, AddressError> {
        let client = Client::open(address).map_err(|_| AddressError)?;
        Ok(Self {
            client,
            timeout,
            connection: Mutex::default(),
            script: Script::new(include_str!("windows.lua")),
            prefix: prefix.to_owned(),
            random,
            is_down: AtomicBool::new(false),
            failed_at: AtomicI64::new(i64::MIN),
        })
    }

    /// A name for a call on the server.
    pub(super) fn call_id(&self) -> String {
        self.random.token()
    }

    /// The server's reply; `None` while it cannot be reached.
    pub(super) async fn take(
        &self,
        now: i64,
        key: &Key,
        call_id: &str,
        rates: &[Rate],
        cost: u32,
        reserve: Reserve,
    ) -> Option<Result<Quota, RateLimitExceeded>> {
        if self.is_paused(now) {
            return None;
        }
        let reply = self.ask(now, key, call_id, rates, cost, reserve);
        let answer = self.in_time(now, reply).await?;
        if self.is_down.swap(false, Ordering::SeqCst) {
            tracing::info!("rate limits are shared again");
        }
        answer
    }

    /// The reply, unless the server fails or takes too long.
    async fn in_time<T>(
        &self,
        now: i64,
        reply: impl Future<Output = Result<T, RedisError>>,
    ) -> Option<T> {
        match tokio::time::timeout(self.timeout, reply).await {
            Ok(Ok(reply)) => return Some(reply),
            Ok(Err(error)) => self.fail(now, &error).await,
            Err(elapsed) => self.fail(now, &elapsed).await,
        }
        None
    }

    fn is_paused(&self, now: i64) -> bool {
        let since = now.saturating_sub(self.failed_at.load(Ordering::SeqCst));
        self.is_down.load(Ordering::SeqCst) && (0..PAUSE).contains(&since)
    }

    async fn fail(&self, now: i64, error: &(dyn std::error::Error + Sync)) {
        self.failed_at.store(now, Ordering::SeqCst);
        *self.connection.lock().await = None;
        if !self.is_down.swap(true, Ordering::SeqCst) {
            tracing::warn!(error = %error, "rate limits cannot be shared: each process counts alone until the server answers again");
        }
    }

    /// Removes a counted call. While the server cannot be reached, the call stays counted there.
    pub(super) async fn release(&self, now: i64, key: &Key, call_id: &str, cost: u32) {
        if self.is_paused(now) {
            return;
        }
        let removal = self.remove(now, key, call_id, cost);
        let _failure_is_logged = self.in_time(now, removal).await;
    }

    async fn remove(
        &self,
        now: i64,
        key: &Key,
        call_id: &str,
        cost: u32,
    ) -> Result<(), RedisError> {
        let Some(mut connection) = self.connection(now).await? else {
            return Ok(());
        };
        // The names that the script gives to the calls.
        let members: Vec<String> = (1..=cost).map(|call| format!("{call_id}:{call}")).collect();
        let mut commands = redis::pipe();
        for counter in &key.counters {
            let command = commands.cmd("ZREM").arg(self.name(key, counter));
            command.arg(&members).ignore();
        }
        commands.query_async(&mut connection).await
    }

    /// The connection, opened if there is none. `None` for callers that waited for a failed
    /// attempt.
    async fn connection(&self, now: i64) -> Result<Option<MultiplexedConnection>, RedisError> {
        let mut connection = self.connection.lock().await;
        if let Some(connection) = &*connection {
            return Ok(Some(connection.clone()));
        }
        if self.is_paused(now) {
            return Ok(None);
        }
        Ok(Some(connection.insert(self.connect().await?).clone()))
    }

    fn name(&self, key: &Key, counter: &Counter) -> String {
        format!("{}:{}:{}", self.prefix, key.kind, counter.name)
    }

    async fn ask(
        &self,
        now: i64,
        key: &Key,
        call_id: &str,
        rates: &[Rate],
        cost: u32,
        reserve: Reserve,
    ) -> Result<Option<Result<Quota, RateLimitExceeded>>, RedisError> {
        let Some(mut connection) = self.connection(now).await? else {
            return Ok(None);
        };
        let mut call = self.script.prepare_invoke();
        call.arg(call_id).arg(cost);
        for counter in &key.counters {
            call.key(self.name(key, counter));
            for rate in counter.rates(rates) {
                call.arg(reserve.limit(rate))
                    .arg(u64::from(rate.per().seconds()) * 1_000_000);
            }
        }
        let numbers: Vec<i64> = call.invoke_async(&mut connection).await?;
        Ok(Some(read(&numbers, key, rates)))
    }

    async fn connect(&self) -> Result<MultiplexedConnection, RedisError> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timeout))
            .set_response_timeout(Some(self.timeout));
        self.client
            .get_multiplexed_async_connection_with_config(&config)
            .await
    }
}

/// The script's answer: the microseconds to wait (0: counted), then for each counter and rate how
/// many are used and when the oldest leaves.
fn read(numbers: &[i64], key: &Key, rates: &[Rate]) -> Result<Quota, RateLimitExceeded> {
    let duration = |micros: i64| Duration::from_micros(u64::try_from(micros).unwrap_or(0));
    let (wait, windows) = numbers.split_first().unwrap_or((&0, &[]));
    let level = |(rate, window): (Rate, &[i64])| {
        let used = window
            .first()
            .copied()
            .and_then(|used| u32::try_from(used).ok())
            .unwrap_or(0);
        let reset_after = duration(window.get(1).copied().unwrap_or(0));
        Level {
            rate,
            remaining: rate.limit().saturating_sub(used),
            reset_after,
        }
    };
    let of_counters = key.counters.iter().zip(windows.chunks(2 * rates.len()));
    let counts = of_counters.map(|(counter, windows)| {
        let windows = counter.rates(rates).zip(windows.chunks(2));
        windows.map(level).collect()
    });
    let levels = tightest(rates, counts);
    if *wait > 0 {
        Err(RateLimitExceeded {
            retry_after: duration(*wait),
            levels,
        })
    } else {
        Ok(Quota { levels })
    }
}

impl fmt::Debug for RedisWindows {
    /// Never shows the address: it may hold a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RedisWindows")
            .field("prefix", &self.prefix)
            .field("is_down", &self.is_down)
            .finish_non_exhaustive()
    }
}
