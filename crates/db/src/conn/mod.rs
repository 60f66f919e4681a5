//! Statements over a connection of either engine. The rooms `sqlite` and `postgres` pool the
//! connections and lend them to jobs; nothing outside of this folder speaks to a database.

pub(crate) mod postgres;
pub(crate) mod sqlite;

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use postgres::LoaderQueues;

use crate::{
    BatchLoader, Counters, Engine, Error, Param, Query, Row, Rows, Sql, job::finish_at_once,
};

/// A connection lent to a job. Every statement is one literal text with `$1`, `$2`, … that both
/// engines accept, prepared once for each connection.
pub struct Conn {
    backend: Backend,
    counters: Arc<Counters>,
    /// The batch loaders of a PostgreSQL lane. Only a job that reads outside of a transaction has
    /// them: in one, its statements may see other data than those of the loaders.
    loader_queues: Option<Arc<LoaderQueues>>,
    /// The first failure of a statement in the current job.
    failure: Option<Error>,
    /// Whether the job runs in a transaction. After a failure in a transaction, no further
    /// statement runs, on either engine.
    in_transaction: bool,
}

/// The fault of a pool that lends a connection of the wrong kind.
const OTHER_ENGINE: &str = "a connection of the other engine";

enum Backend {
    Sqlite(sqlite::Connection),
    Postgres(postgres::Session),
}

/// A connection with a transaction open, lent to a job of [`Db::write`](crate::Db::write).
///
/// When a statement fails, the transaction is over: later statements are refused, and it is rolled
/// back even if the job returns `Ok`. PostgreSQL behaves so by itself; this crate does the same on
/// SQLite. A write that may conflict uses `ON CONFLICT`, or the caller handles the error outside of
/// the job.
pub struct Tx(Conn);

impl Deref for Tx {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.0
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.0
    }
}

impl Tx {
    pub(crate) fn new(conn: Conn) -> Self {
        Self(conn)
    }

    /// Runs a job in the transaction that is open on a SQLite connection. When a statement has
    /// failed, the job fails, even if it ignored that.
    pub(crate) fn run_job<T, E, F>(&mut self, job: &F) -> Result<T, E>
    where
        F: AsyncFn(&mut Self) -> Result<T, E>,
        E: From<Error>,
    {
        self.begin_job(true);
        let counters = Arc::clone(&self.counters);
        let result = finish_at_once(job(self), &counters);
        match (self.end_job(), result) {
            (Some(error), Ok(_)) => Err(error.into()),
            (_, result) => result,
        }
    }
}

impl Conn {
    pub(crate) fn sqlite(connection: sqlite::Connection, counters: Arc<Counters>) -> Self {
        Self::new(Backend::Sqlite(connection), counters)
    }

    pub(crate) fn postgres(session: postgres::Session, counters: Arc<Counters>) -> Self {
        Self::new(Backend::Postgres(session), counters)
    }

    fn new(backend: Backend, counters: Arc<Counters>) -> Self {
        Self {
            backend,
            counters,
            loader_queues: None,
            failure: None,
            in_transaction: false,
        }
    }

    /// The connection of a job that may use the batch loaders of its lane.
    pub(crate) fn with_loader_queues(mut self, queues: &Arc<LoaderQueues>) -> Self {
        self.loader_queues = Some(Arc::clone(queues));
        self
    }

    /// The engine, for the rare statement that needs a different text on each.
    pub fn engine(&self) -> Engine {
        match self.backend {
            Backend::Sqlite(_) => Engine::Sqlite,
            Backend::Postgres(_) => Engine::Postgres,
        }
    }

    /// Every row of the result, each turned into a `T` by `map`. All of them are held in memory, so
    /// the statement needs a limit.
    ///
    /// # Errors
    /// What the database refuses, a wrong number of parameters, and the errors of `map`.
    pub async fn all<T>(
        &mut self,
        sql: &'static str,
        params: &[&dyn Param],
        mut map: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.collect(Sql::Literal(sql), params, &mut map).await
    }

    /// As [`all`](Self::all), of an assembled statement.
    ///
    /// # Errors
    /// As [`all`](Self::all).
    pub async fn all_of<T>(
        &mut self,
        query: &Query,
        mut map: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.collect(Sql::Built(query.text()), &query.params(), &mut map)
            .await
    }

    /// The only row of the result, or `None` when there is none.
    ///
    /// # Errors
    /// As [`all`](Self::all), and when there is more than one row.
    pub async fn optional<T>(
        &mut self,
        sql: &'static str,
        params: &[&dyn Param],
        mut map: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        self.find(Sql::Literal(sql), params, &mut map).await
    }

    /// As [`optional`](Self::optional), of an assembled statement.
    ///
    /// # Errors
    /// As [`optional`](Self::optional).
    pub async fn optional_of<T>(
        &mut self,
        query: &Query,
        mut map: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        self.find(Sql::Built(query.text()), &query.params(), &mut map)
            .await
    }

    /// The only row of the result.
    ///
    /// # Errors
    /// As [`all`](Self::all), and when there is not exactly one row.
    pub async fn one<T>(
        &mut self,
        sql: &'static str,
        params: &[&dyn Param],
        map: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.optional(sql, params, map).await? {
            Some(row) => Ok(row),
            None => Err(self.remember(Error::other(format!("no row: {sql}")))),
        }
    }

    /// As [`one`](Self::one), of an assembled statement.
    ///
    /// # Errors
    /// As [`one`](Self::one).
    pub async fn one_of<T>(
        &mut self,
        query: &Query,
        map: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.optional_of(query, map).await? {
            Some(row) => Ok(row),
            None => Err(self.remember(Error::other(format!("no row: {}", query.text())))),
        }
    }

    /// The row with a key, or `None` when there is none. On PostgreSQL, outside a transaction,
    /// concurrent calls share one statement.
    ///
    /// # Errors
    /// As [`all`](Self::all).
    pub async fn find_by_key<T: Send + 'static>(
        &mut self,
        what: &'static BatchLoader<T>,
        key: i64,
    ) -> Result<Option<T>, Error> {
        if let Some(queues) = self.loader_queues.clone()
            && let Some(found) = Box::pin(queues.find(what, key)).await
        {
            self.counters.statements.increase();
            return Ok(found);
        }
        self.optional(what.one, &[&key], what.row).await
    }

    /// Runs a statement without result rows. Returns how many rows it inserted, changed or deleted.
    ///
    /// # Errors
    /// What the database refuses, and a wrong number of parameters.
    pub async fn execute(
        &mut self,
        sql: &'static str,
        params: &[&dyn Param],
    ) -> Result<u64, Error> {
        self.run(Sql::Literal(sql), params).await
    }

    /// As [`execute`](Self::execute), of a statement about one row at most. Returns whether it
    /// inserted, changed or deleted one.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub async fn execute_one(
        &mut self,
        sql: &'static str,
        params: &[&dyn Param],
    ) -> Result<bool, Error> {
        Ok(self.execute(sql, params).await? > 0)
    }

    /// As [`execute`](Self::execute), of an assembled statement.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub async fn execute_of(&mut self, query: &Query) -> Result<u64, Error> {
        self.run(Sql::Built(query.text()), &query.params()).await
    }

    /// Runs an `INSERT` of one row and returns the row's `id`. On SQLite it does so without
    /// `RETURNING`, which would make a temporary table each time.
    ///
    /// # Errors
    /// As [`execute`](Self::execute), and when not exactly one row was added.
    pub async fn insert_one(&mut self, mut query: Query) -> Result<i64, Error> {
        if self.engine() == Engine::Postgres {
            query.push(" RETURNING id");
            return self.one_of(&query, |row| row.get(0)).await;
        }
        match (self.execute_of(&query).await?, &self.backend) {
            (1, Backend::Sqlite(connection)) => Ok(connection.last_inserted()),
            (added, _) => {
                let error = Error::other(format!("{added} rows, not one: {}", query.text()));
                Err(self.remember(error))
            }
        }
    }

    async fn collect<T>(
        &mut self,
        sql: Sql<'_>,
        params: &[&dyn Param],
        map: &mut impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut rows = Vec::new();
        self.each(sql, params, &mut |row| {
            rows.push(map(row)?);
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    async fn find<T>(
        &mut self,
        sql: Sql<'_>,
        params: &[&dyn Param],
        map: &mut impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let mut found = None;
        self.each(sql, params, &mut |row| {
            if found.is_some() {
                return Err(Error::other("more than one row").context(sql.text()));
            }
            found = Some(map(row)?);
            Ok(())
        })
        .await?;
        Ok(found)
    }

    async fn run(&mut self, sql: Sql<'_>, params: &[&dyn Param]) -> Result<u64, Error> {
        self.admit()?;
        let done = match &mut self.backend {
            Backend::Sqlite(connection) => connection.execute(sql.text(), params),
            Backend::Postgres(session) => session.execute(sql, params).await,
        };
        done.map_err(|error| self.remember(error))
    }

    async fn each(
        &mut self,
        sql: Sql<'_>,
        params: &[&dyn Param],
        take: &mut dyn FnMut(&Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.admit()?;
        let done = match &mut self.backend {
            Backend::Sqlite(connection) => connection.each(sql.text(), params, take),
            Backend::Postgres(session) => session.each(sql, params, take).await,
        };
        done.map_err(|error| self.remember(error))
    }

    /// Runs a text that the program has made, such as a definition read from the catalog.
    pub(crate) async fn execute_text(&mut self, sql: &str) -> Result<u64, Error> {
        self.run(Sql::Built(sql), &[]).await
    }

    /// The number that such a text returns.
    pub(crate) async fn number_of_text(&mut self, sql: &str) -> Result<Option<i64>, Error> {
        self.find(Sql::Built(sql), &[], &mut |row: &Row<'_>| row.get(0))
            .await
            .map(Option::flatten)
    }

    /// Adds rows in bulk.
    pub(crate) async fn insert_values(&mut self, rows: &Rows) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        self.admit()?;
        let done = match &mut self.backend {
            Backend::Sqlite(connection) => connection.insert(rows),
            Backend::Postgres(session) => session.copy(rows).await,
        };
        done.map_err(|error| self.remember(error))
    }

    fn admit(&self) -> Result<(), Error> {
        match &self.failure {
            Some(error) if self.in_transaction => {
                Err(error.clone().context("the transaction had failed"))
            }
            _ => {
                self.counters.statements.increase();
                Ok(())
            }
        }
    }

    fn remember(&mut self, error: Error) -> Error {
        self.failure.get_or_insert_with(|| error.clone());
        error
    }

    /// Begins a job: clears the failure of the one before.
    pub(crate) fn begin_job(&mut self, in_transaction: bool) {
        self.in_transaction = in_transaction;
        self.failure = None;
    }

    /// The first failure since [`begin_job`](Self::begin_job).
    pub(crate) fn end_job(&mut self) -> Option<Error> {
        self.in_transaction = false;
        self.failure.take()
    }

    pub(crate) fn sqlite_connection(&self) -> Result<&sqlite::Connection, Error> {
        match &self.backend {
            Backend::Sqlite(connection) => Ok(connection),
            Backend::Postgres(_) => Err(Error::other(OTHER_ENGINE)),
        }
    }

    pub(crate) fn postgres_session(&mut self) -> Result<&mut postgres::Session, Error> {
        match &mut self.backend {
            Backend::Sqlite(_) => Err(Error::other(OTHER_ENGINE)),
            Backend::Postgres(session) => Ok(session),
        }
    }
}
