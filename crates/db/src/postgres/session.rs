//! A connection taken from a lane's pool for one job, and the transaction around the job's statements.

use std::{
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use deadpool::managed::{Object, Pool, PoolError};
use tokio::sync::OnceCell;
use tokio_postgres::{Client, RowStream, binary_copy::BinaryCopyInWriter, types::Type};
use tokio_stream::StreamExt;

use super::{
    link::{Link, Links},
    look_ups::LookUps,
    values::parameter_type,
};
use crate::{Error, Param, Row, Rows, Sql, Value};

/// A commit has no limit of time at the server. Where it waits for a standby, the limit would end the waiting and not the transaction, which
/// would then be acknowledged though no standby has it.
const COMMIT: &str = "SET LOCAL statement_timeout = 0; COMMIT";

/// A connection lent to one job.
pub(crate) struct Session {
    /// Taken from the pool with the first statement: a job whose look-ups share the statements of others needs none.
    link: OnceCell<Box<Object<Links>>>,
    pool: Pool<Links>,
    transaction: Transaction,
    /// How long the server is waited for in each statement.
    limit: Duration,
    /// Those of the lane, for a session of a job.
    look_ups: Option<Arc<LookUps>>,
}

enum Transaction {
    None,
    /// To be opened together with the first statement, which saves a round trip.
    Wanted(String),
    Open,
}

impl Session {
    pub(super) fn new(pool: &Pool<Links>, limit: Duration) -> Self {
        Self {
            link: OnceCell::new(),
            pool: pool.clone(),
            transaction: Transaction::None,
            limit,
            look_ups: None,
        }
    }

    /// The session of a job, whose look-ups share statements with those of other jobs.
    pub(super) fn with_look_ups(mut self, look_ups: &Arc<LookUps>) -> Self {
        self.look_ups = Some(Arc::clone(look_ups));
        self
    }

    /// The look-ups of the lane; none within a transaction, whose statements may see what others do not.
    pub(crate) fn look_ups(&self) -> Option<Arc<LookUps>> {
        match self.transaction {
            Transaction::None => self.look_ups.clone(),
            Transaction::Wanted(_) | Transaction::Open => None,
        }
    }

    /// Takes a connection, unless the session has one.
    pub(super) async fn connect(&self) -> Result<&Link, Error> {
        match self.link.get() {
            Some(link) => Ok(link),
            // In a box of its own, or it would make every future around a statement larger.
            None => Ok(Box::pin(self.link.get_or_try_init(|| take(&self.pool))).await?),
        }
    }

    /// From the next statement on, in a transaction opened by this text.
    pub(super) fn want_transaction(&mut self, begin: String) {
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
        self.link()?.answered(self.limit, sql.text(), row).await
    }

    /// Sends rows in the binary format of `COPY`.
    pub(crate) async fn copy(&mut self, rows: &Rows) -> Result<(), Error> {
        if let Some(begin) = self.begin_due() {
            self.connect().await?.control(self.limit, &begin).await?;
        }
        let link = self.connect().await?;
        let sql = rows.copying();
        link.answered(self.limit, &sql, send(link.client(), &sql, rows))
            .await
    }

    /// Sends a statement, together with the BEGIN that may be due.
    async fn start(&mut self, sql: Sql<'_>, params: &[&dyn Param]) -> Result<RowStream, Error> {
        let values: Vec<Value<'_>> = params.iter().map(|param| param.to_value()).collect();
        let link = self.connect().await?;
        let statement = link.prepare(self.limit, sql, &values).await?;
        let wanted = statement.params().len();
        if wanted != params.len() {
            let got = params.len();
            return Err(Error::other(format!(
                "the statement has {wanted} parameters and got {got}: {}",
                sql.text()
            )));
        }
        let begin = self.begin_due();
        let link = self.link()?;
        let query = link.client().query_raw(&statement, values.iter());
        let rows = async {
            match begin {
                None => query.await,
                Some(begin) => {
                    let opened = link.client().batch_execute(&begin);
                    let (opened, rows) = tokio::join!(biased; opened, query);
                    opened.and(rows)
                }
            }
        };
        link.answered(self.limit, sql.text(), rows).await
    }

    fn begin_due(&mut self) -> Option<String> {
        if !matches!(self.transaction, Transaction::Wanted(_)) {
            return None;
        }
        match std::mem::replace(&mut self.transaction, Transaction::Open) {
            Transaction::Wanted(begin) => Some(begin),
            _ => None,
        }
    }

    /// Commits. An error that is not of the kind `Retry` or a constraint leaves the outcome unknown.
    pub(super) async fn commit(&mut self) -> Result<(), Error> {
        if let Transaction::Open = self.transaction {
            self.link()?.control(self.limit, COMMIT).await?;
        }
        self.transaction = Transaction::None;
        Ok(())
    }

    /// Rolls back; a connection on which that fails is not used again.
    pub(super) async fn roll_back(&mut self) {
        if matches!(self.transaction, Transaction::Open) {
            let rolled_back = match self.link() {
                Ok(link) => link.control(self.limit, "ROLLBACK").await,
                Err(gone) => Err(gone),
            };
            if rolled_back.is_err() {
                return;
            }
        }
        self.transaction = Transaction::None;
    }

    /// Whether the connection broke while this session had it.
    pub(super) fn is_lost(&self) -> bool {
        self.link.get().is_some_and(|link| link.is_lost())
    }

    /// The connection that a statement was sent on.
    fn link(&self) -> Result<&Link, Error> {
        match self.link.get() {
            Some(link) => Ok(link),
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

async fn take(pool: &Pool<Links>) -> Result<Box<Object<Links>>, Error> {
    pool.get().await.map(Box::new).map_err(|error| match error {
        PoolError::Backend(error) => error,
        other => Error::unavailable(format!("no connection to PostgreSQL is free: {other}")),
    })
}

impl Drop for Session {
    /// A transaction that is still open must not reach the next job: its connection is closed instead.
    fn drop(&mut self) {
        if let Transaction::Open = self.transaction
            && let Some(link) = self.link.take()
        {
            drop(Object::take(*link));
        }
    }
}
