//! A connection taken from a lane's pool for one job, and the transaction around the job's statements.

use std::{pin::pin, sync::Arc};

use deadpool::managed::{Object, Pool, PoolError};
use tokio::sync::OnceCell;
use tokio_postgres::{RowStream, binary_copy::BinaryCopyInWriter, types::Type};
use tokio_stream::StreamExt;

use super::{
    link::{Link, Links},
    look_ups::LookUps,
    values::parameter_type,
};
use crate::{Error, Param, Row, Rows, Sql, Value};

/// A connection lent to one job.
pub(crate) struct Session {
    /// Taken from the pool with the first statement: a job whose look-ups share the statements of others needs none.
    link: OnceCell<Box<Object<Links>>>,
    pool: Pool<Links>,
    transaction: Transaction,
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
    pub(super) fn new(pool: &Pool<Links>) -> Self {
        Self {
            link: OnceCell::new(),
            pool: pool.clone(),
            transaction: Transaction::None,
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
        let link = self.link()?;
        while let Some(row) = rows.next().await {
            let row = row.map_err(|error| link.note(&error).context(sql.text()))?;
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
        if let Some(row) = rows.next().await {
            row.map_err(|error| match self.link() {
                Ok(link) => link.note(&error).context(sql.text()),
                Err(gone) => gone,
            })?;
            return Err(
                Error::other("execute got a row; ask for rows with all or one").context(sql.text()),
            );
        }
        Ok(rows.rows_affected().unwrap_or(0))
    }

    /// Sends rows in the binary format of `COPY`.
    pub(crate) async fn copy(&mut self, rows: &Rows) -> Result<(), Error> {
        if let Some(begin) = self.begin_due() {
            self.connect().await?.control(&begin).await?;
        }
        let link = self.connect().await?;
        let sql = rows.copying();
        let failed = |error: tokio_postgres::Error| link.note(&error).context(&sql);
        let types: Vec<Type> = rows
            .columns
            .iter()
            .map(|(_, kind)| parameter_type(*kind))
            .collect();
        let sink = link.client().copy_in(sql.as_str()).await.map_err(failed)?;
        let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
        for row in rows.values.chunks(types.len()) {
            writer
                .as_mut()
                .write_raw(row.iter().map(Param::to_value))
                .await
                .map_err(failed)?;
        }
        writer.finish().await.map(drop).map_err(failed)
    }

    /// Sends a statement, together with the BEGIN that may be due.
    async fn start(&mut self, sql: Sql<'_>, params: &[&dyn Param]) -> Result<RowStream, Error> {
        let values: Vec<Value<'_>> = params.iter().map(|param| param.to_value()).collect();
        let statement = self.connect().await?.prepare(sql, &values).await?;
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
        let rows = match begin {
            None => query.await,
            Some(begin) => {
                let opened = link.client().batch_execute(&begin);
                let (opened, rows) = tokio::join!(biased; opened, query);
                opened.and(rows)
            }
        };
        rows.map_err(|error| link.note(&error).context(sql.text()))
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
            self.link()?.control("COMMIT").await?;
        }
        self.transaction = Transaction::None;
        Ok(())
    }

    /// Rolls back; a connection on which that fails is not used again.
    pub(super) async fn roll_back(&mut self) {
        if matches!(self.transaction, Transaction::Open) {
            let rolled_back = match self.link() {
                Ok(link) => link.control("ROLLBACK").await,
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
