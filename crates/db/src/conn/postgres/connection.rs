//! A pooled connection and its prepared statements. The reads of a job may share it, so every
//! method takes a shared reference.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use tokio_postgres::{Client, Statement, types::Type};

use super::{connect::Connector, errors};
use crate::{Counters, Error, Sql, Value, lock_mutex, value::postgres::parameter_type};

/// A connection of a pool.
pub(crate) struct PgConnection {
    client: Client,
    prepared: Mutex<Prepared>,
    lost: AtomicBool,
    epoch: Epoch,
    opened_in: u64,
}

/// Incremented when the server does not answer on one connection. Connections that were opened
/// before are not used again: they would not be answered either.
#[derive(Clone, Default)]
pub(crate) struct Epoch(Arc<AtomicU64>);

impl Epoch {
    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn end(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The statements that a connection has prepared.
#[derive(Default)]
struct Prepared {
    /// By address and length of their literal texts, which live as long as the program: as many as
    /// it has statements.
    literal: HashMap<(usize, usize), Statement>,
    /// By text: statements assembled for one call, of which there may be many.
    built: HashMap<String, Statement>,
}

/// The most assembled statements that a connection keeps prepared.
const MOST_BUILT: usize = 256;

/// Opens connections for a pool, and refuses broken ones when they are returned.
pub(crate) struct PgManager {
    pub(crate) connector: Connector,
    pub(crate) counters: Arc<Counters>,
    pub(crate) epoch: Epoch,
}

impl Manager for PgManager {
    type Type = PgConnection;
    type Error = Error;

    async fn create(&self) -> Result<PgConnection, Error> {
        let opened_in = self.epoch.now();
        let client = self.connector.connect().await?;
        self.counters.connections.increase();
        Ok(PgConnection {
            client,
            prepared: Mutex::default(),
            lost: AtomicBool::new(false),
            epoch: self.epoch.clone(),
            opened_in,
        })
    }

    async fn recycle(&self, connection: &mut PgConnection, _: &Metrics) -> RecycleResult<Error> {
        if connection.is_lost() || connection.opened_in != self.epoch.now() {
            return Err(RecycleError::message("the connection is lost"));
        }
        Ok(())
    }
}

impl PgConnection {
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Whether the connection broke.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed) || self.client.is_closed()
    }

    /// Waits for the server's answer, for so long at most. A connection on which it does not answer
    /// is lost.
    pub(crate) async fn answered<T>(
        &self,
        limit: Duration,
        doing: &str,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Error> {
        match tokio::time::timeout(limit, answer).await {
            Ok(answer) => answer.map_err(|error| self.note(&error).context(doing)),
            Err(_elapsed) => {
                self.lost.store(true, Ordering::Relaxed);
                self.epoch.end();
                Err(Error::unavailable("PostgreSQL does not answer").context(doing))
            }
        }
    }

    /// Runs statements of transaction control.
    pub(crate) async fn control(&self, limit: Duration, sql: &str) -> Result<(), Error> {
        self.answered(limit, sql, self.client.batch_execute(sql))
            .await
    }

    /// The prepared statement for a text. The kinds of the values are sent to the server.
    pub(crate) async fn prepare(
        &self,
        limit: Duration,
        sql: Sql<'_>,
        values: &[Value<'_>],
    ) -> Result<Statement, Error> {
        if let Some(statement) = lock_mutex(&self.prepared).get(sql) {
            return Ok(statement);
        }
        let types: Vec<Type> = values
            .iter()
            .map(|value| parameter_type(value.kind()))
            .collect();
        let preparing = self.client.prepare_typed(sql.text(), &types);
        let statement = self.answered(limit, sql.text(), preparing).await?;
        lock_mutex(&self.prepared).keep(sql, statement.clone());
        Ok(statement)
    }

    /// Translates an error. A lost connection is marked, and stale statements are dropped.
    pub(crate) fn note(&self, error: &tokio_postgres::Error) -> Error {
        self.lost
            .fetch_or(errors::is_lost(error), Ordering::Relaxed);
        if errors::is_stale(error) {
            *lock_mutex(&self.prepared) = Prepared::default();
        }
        errors::translate(error)
    }
}

impl Prepared {
    fn get(&self, sql: Sql<'_>) -> Option<Statement> {
        match sql {
            Sql::Literal(text) => self.literal.get(&key(text)).cloned(),
            Sql::Built(text) => self.built.get(text).cloned(),
        }
    }

    fn keep(&mut self, sql: Sql<'_>, statement: Statement) {
        match sql {
            Sql::Literal(text) => _ = self.literal.insert(key(text), statement),
            Sql::Built(text) => {
                if self.built.len() >= MOST_BUILT {
                    self.built.clear();
                }
                self.built.insert(text.to_owned(), statement);
            }
        }
    }
}

/// A literal text keeps its address for as long as the program runs.
fn key(text: &'static str) -> (usize, usize) {
    (text.as_ptr().addr(), text.len())
}
