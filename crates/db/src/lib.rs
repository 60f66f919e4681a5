//! The database: one handle over SQLite and PostgreSQL, and the types both store. Money and time come first, since everyone needs them.

mod money;
mod timestamp;

pub use money::{Money, NotMoney};
pub use timestamp::{NotTimestamp, Timestamp};
