//! A connection taken from a lane's pool for one job, and the transaction around the job's
//! statements.

use std::{
    pin::{Pin, pin},
    time::Duration,
};

use deadpool::managed::{Object, Pool, PoolError};
use tokio::sync::OnceCell;
use tokio_postgres::{Client, RowStream, binary_copy::BinaryCopyInWriter, types::Type};
use tokio_stream::StreamExt;

use super::connection::{PgConnection, PgManager};
use crate::{Error, Param, Row, Rows, Sql, Value, value::postgres::parameter_type};

/// A commit has no time limit at the server. With synchronous replication the limit would end only
/// the wait for the standby. The transaction would then be acknowledged though no standby has it.
const COMMIT: &str = "SET LOCAL statement_timeout = 0; COMMIT";

/// A connection lent to one job.
pub(crate) struct Session {
    /// Taken from the pool with the first statement: a job that only uses batch loaders needs none.
    connection: OnceCell<Box<Object<PgManager>>>,
    pool: Pool<PgManager>,
    transaction: Transaction,
    /// The longest wait for the server in each statement.
    limit: Duration,
}

enum Transaction {
    None,
    /// To be opened by this text together with the first statement, which saves a round trip.
    Wanted(String),
    Open,
}

impl Session {
    pub(crate) fn new(pool: &Pool<PgManager>, limit: Duration) -> Self {
        Self {
            connection: OnceCell::new(),
            pool: pool.clone(),
            transaction: Transaction::None,
            limit,
        }
    }

    /// Takes a connection, unless the session has one.
    pub(crate) async fn connect(&self) -> Result<&PgConnection, Error> {
        match self.connection.get() {
            Some(connection) => Ok(connection),
            // Boxed, because it would make every future around a statement larger.
            None => Ok(Box::pin(self.connection.get_or_try_init(|| take(&self.pool))).await?),
        }
    }

    /// Runs the statements from the next one on in a transaction that this text opens.
    pub(crate) fn want_transaction(&mut self, begin: String) {
        self.transaction = Transaction::Wanted(begin);
    }

    pub(crate) async fn each(
        &mut self,
        sql: Sql<'_>,
        params: &[&dyn Param],
        take: &mut dyn FnMut(&Row<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let rows = self.start(sql, params).await?;
        let mut rows = pin!(rows);
        while let Some(row) = self.next(sql, rows.as_mut()).await? {
            take(&Row::postgres(&row)).map_err(|error| error.context(sql.text()))?;
        }
        Ok(())
    }

    pub(crate) async fn execute(
        &mut self,
        sql: Sql<'_>,
        params: &[&dyn Param],
    ) -> Result<u64, Error> {
        let rows = self.start(sql, params).await?;
        let mut rows = pin!(rows);
        if self.next(sql, rows.as_mut()).await?.is_some() {
            return Err(
                Error::other("execute got a row; ask for rows with all or one").context(sql.text()),
            );
        }
        Ok(rows.rows_affected().unwrap_or(0))
    }

    /// The next row of a statement's answer.
    async fn next(
        &self,
        sql: Sql<'_>,
        mut rows: Pin<&mut RowStream>,
    ) -> Result<Option<tokio_postgres::Row>, Error> {
        let row = async { rows.next().await.transpose() };
        self.connection()?
            .answered(self.limit, sql.text(), row)
            .await
    }

    /// Sends rows in the binary format of `COPY`.
    pub(crate) async fn copy(&mut self, rows: &Rows) -> Result<(), Error> {
        if let Some(begin) = self.begin_due() {
            self.connect().await?.control(self.limit, &begin).await?;
        }
        let connection = self.connect().await?;
        let sql = rows.copying();
        connection
            .answered(self.limit, &sql, send(connection.client(), &sql, rows))
            .await
    }

    /// Sends a statement, together with the BEGIN that may be due.
    async fn start(&mut self, sql: Sql<'_>, params: &[&dyn Param]) -> Result<RowStream, Error> {
        let values: Vec<Value<'_>> = params.iter().map(|param| param.to_value()).collect();
        let connection = self.connect().await?;
        let statement = connection.prepare(self.limit, sql, &values).await?;
        let wanted = statement.params().len();
        if wanted != params.len() {
            let got = params.len();
            return Err(Error::other(format!(
                "the statement has {wanted} parameters and got {got}: {}",
                sql.text()
            )));
        }
        let begin = self.begin_due();
        let connection = self.connection()?;
        let query = connection.client().query_raw(&statement, values.iter());
        let rows = async {
            match begin {
                None => query.await,
                Some(begin) => {
                    let opened = connection.client().batch_execute(&begin);
                    let (opened, rows) = tokio::join!(biased; opened, query);
                    opened.and(rows)
                }
            }
        };
        connection.answered(self.limit, sql.text(), rows).await
    }

    fn begin_due(&mut self) -> Option<String> {
        let Transaction::Wanted(begin) = &mut self.transaction else {
            return None;
        };
        let begin = std::mem::take(begin);
        self.transaction = Transaction::Open;
        Some(begin)
    }

    /// Commits. An error that is not of the kind `Retry` or a constraint leaves the outcome
    /// unknown.
    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        if let Transaction::Open = self.transaction {
            self.connection()?.control(self.limit, COMMIT).await?;
        }
        self.transaction = Transaction::None;
        Ok(())
    }

    /// Rolls back; a connection on which that fails is not used again.
    pub(crate) async fn roll_back(&mut self) {
        if let Transaction::Open = self.transaction
            && let Ok(connection) = self.connection()
            && connection.control(self.limit, "ROLLBACK").await.is_err()
        {
            return;
        }
        self.transaction = Transaction::None;
    }

    /// Whether the connection broke while this session had it.
    pub(crate) fn is_lost(&self) -> bool {
        self.connection
            .get()
            .is_some_and(|connection| connection.is_lost())
    }

    /// The connection that a statement was sent on.
    fn connection(&self) -> Result<&PgConnection, Error> {
        match self.connection.get() {
            Some(connection) => Ok(connection),
            None => Err(Error::other("no statement was sent on this connection")),
        }
    }
}

/// Sends rows by a `COPY` statement.
async fn send(client: &Client, sql: &str, rows: &Rows) -> Result<(), tokio_postgres::Error> {
    let types: Vec<Type> = rows
        .columns
        .iter()
        .map(|(_, kind)| parameter_type(*kind))
        .collect();
    let sink = client.copy_in(sql).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
    for row in rows.values.chunks(types.len()) {
        writer
            .as_mut()
            .write_raw(row.iter().map(Param::to_value))
            .await?;
    }
    writer.finish().await.map(drop)
}

async fn take(pool: &Pool<PgManager>) -> Result<Box<Object<PgManager>>, Error> {
    pool.get().await.map(Box::new).map_err(|error| match error {
        PoolError::Backend(error) => error,
        other => Error::unavailable(format!("no connection to PostgreSQL is free: {other}")),
    })
}

impl Drop for Session {
    /// A transaction that is still open must not reach the next job: its connection is closed
    /// instead.
    fn drop(&mut self) {
        if let Transaction::Open = self.transaction
            && let Some(connection) = self.connection.take()
        {
            drop(Object::take(*connection));
        }
    }
}
