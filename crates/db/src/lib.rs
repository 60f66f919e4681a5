//! One database handle over SQLite and PostgreSQL: jobs, exact money and time, errors told alike, migrations in pairs.
//! What the tables are and which statements run on them is the services' business, not this crate's.

mod address;
mod conn;
mod error;
mod fold;
mod handle;
mod job;
mod migrations;
mod money;
mod options;
mod postgres;
mod query;
mod queue;
mod row;
mod sqlite;
mod statistics;
mod timestamp;
mod value;

pub use address::{Address, Engine, InvalidAddress};
pub use conn::{Conn, Tx};
pub use error::{Error, ErrorKind};
pub use fold::fold;
pub use handle::Db;
pub use migrations::{Migration, Migrations};
pub use money::{Money, NotMoney};
pub use options::Options;
pub use postgres::PostgresAddress;
pub use query::{OwnedValue, Query};
pub use row::Row;
pub use statistics::Statistics;
pub use timestamp::{NotTimestamp, Timestamp};
pub use value::{Column, Kind, Param, Value};

use query::Sql;
use statistics::Counters;
