//! Rate limits by exact sliding windows: never more than N in any stretch of the named length.
//!
//! [`Rates`] are the limits, a [`Key`] is the user or client of a call, [`Windows`] count the
//! calls, in this process or shared through Redis or Valkey, and [`Limiter`] answers 429.
//! Implements the row "Rate limits" of the decisions. The services choose the rates.

mod key;
mod limiter;
mod log;
mod memory;
mod quota;
mod rates;
mod redis;
mod windows;

pub use key::Key;
pub use limiter::{Limiter, throttled_detail, too_many_requests};
pub use log::{Log, LogError};
pub use quota::{Level, Quota, RateLimitExceeded};
pub use rates::{Period, Rate, Rates, RatesError};
pub use redis::{AddressError, is_redis_address};
pub use windows::{Bounds, CountedCall, Reserve, Windows};
