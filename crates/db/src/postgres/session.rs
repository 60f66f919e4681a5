//! A connection taken from a lane's pool for one job: statements prepared once and kept with the connection, and the
//! transaction around them.

use std::{collections::HashMap, pin::pin};

use deadpool::managed::{Manager, Metrics, Object, RecycleError, RecycleResult};
use tokio_postgres::{Client, RowStream, Statement, types::Type};
use tokio_stream::StreamExt;

use super::{connect::Connector, errors, values::parameter_type};
use crate::{Error, Param, Row, Sql, Value};

/// A pooled connection with the statements that it has prepared.
pub(crate) struct Link {
    client: Client,
    prepared: Box<Prepared>,
    lost: bool,
}

/// The statements that a connection has prepared.
#[derive(Default)]
struct Prepared {
    /// By address and length of their literal texts, which live as long as the program: as many as it has statements.
    literal: HashMap<(usize, usize), Statement>,
    /// By text: statements put together for one call, of which there may be many.
    built: HashMap<String, Statement>,
}

/// Most statements put together for one call that a connection keeps prepared.
const MOST_BUILT: usize = 256;

/// Opens connections for a pool and refuses broken ones when they come back.
pub(crate) struct Links {
    pub(crate) connector: Connector,
    pub(crate) counters: std::sync::Arc<crate::Counters>,
}

impl Manager for Links {
    type Type = Link;
    type Error = Error;

    async fn create(&self) -> Result<Link, Error> {
        let client = self.connector.connect().await?;
        self.counters.connection();
        Ok(Link {
            client,
            prepared: Box::default(),
            lost: false,
        })
    }

    async fn recycle(&self, link: &mut Link, _: &Metrics) -> RecycleResult<Error> {
        if link.lost || link.client.is_closed() {
            return Err(RecycleError::message("the connection is lost"));
        }
        Ok(())
    }
}

/// A connection lent to one job.
pub(crate) struct Session {
    /// Taken only when the session ends.
    link: Option<Object<Links>>,
    transaction: Transaction,
}

enum Transaction {
    None,
    /// To be opened together with the first statement, which saves a round trip.
    Wanted(String),
    Open,
}

impl Session {
    pub(super) fn new(link: Object<Links>) -> Self {
        Self {
            link: Some(link),
            transaction: Transaction::None,
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
        while let Some(row) = rows.next().await {
            let row = row.map_err(|error| self.note(&error).context(sql.text()))?;
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
            row.map_err(|error| self.note(&error).context(sql.text()))?;
            return Err(
                Error::other("execute got a row; ask for rows with all or one").context(sql.text()),
            );
        }
        Ok(rows.rows_affected().unwrap_or(0))
    }

    /// Sends a statement, together with the BEGIN that may be due.
    async fn start(&mut self, sql: Sql<'_>, params: &[&dyn Param]) -> Result<RowStream, Error> {
        let values: Vec<Value<'_>> = params.iter().map(|param| param.to_value()).collect();
        let statement = self.prepare(sql, &values).await?;
        let wanted = statement.params().len();
        if wanted != params.len() {
            let got = params.len();
            return Err(Error::other(format!(
                "the statement has {wanted} parameters and got {got}: {}",
                sql.text()
            )));
        }
        let begin = match std::mem::replace(&mut self.transaction, Transaction::Open) {
            Transaction::Wanted(begin) => Some(begin),
            before => {
                self.transaction = before;
                None
            }
        };
        let client = &self.link()?.client;
        let query = client.query_raw(&statement, values.iter());
        let rows = match begin {
            None => query.await,
            Some(begin) => {
                let (opened, rows) = tokio::join!(biased; client.batch_execute(&begin), query);
                opened.and(rows)
            }
        };
        rows.map_err(|error| self.note(&error).context(sql.text()))
    }

    async fn prepare(&mut self, sql: Sql<'_>, values: &[Value<'_>]) -> Result<Statement, Error> {
        let link = self.link()?;
        let kept = match sql {
            Sql::Literal(text) => link.prepared.literal.get(&key(text)),
            Sql::Built(text) => link.prepared.built.get(text),
        };
        if let Some(statement) = kept {
            return Ok(statement.clone());
        }
        let types: Vec<Type> = values
            .iter()
            .map(|value| parameter_type(value.kind()))
            .collect();
        let statement = match link.client.prepare_typed(sql.text(), &types).await {
            Ok(statement) => statement,
            Err(error) => return Err(self.note(&error).context(sql.text())),
        };
        let prepared = &mut self.link()?.prepared;
        match sql {
            Sql::Literal(text) => _ = prepared.literal.insert(key(text), statement.clone()),
            Sql::Built(text) => {
                if prepared.built.len() >= MOST_BUILT {
                    prepared.built.clear();
                }
                prepared.built.insert(text.to_owned(), statement.clone());
            }
        }
        Ok(statement)
    }

    /// Commits. An error that is not of the kind `Retry` or a constraint leaves the outcome unknown.
    pub(super) async fn commit(&mut self) -> Result<(), Error> {
        if let Transaction::Open = self.transaction {
            let done = self.link()?.client.batch_execute("COMMIT").await;
            done.map_err(|error| self.note(&error).context("COMMIT"))?;
        }
        self.transaction = Transaction::None;
        Ok(())
    }

    /// Rolls back; a connection on which that fails is not used again.
    pub(super) async fn roll_back(&mut self) {
        if matches!(self.transaction, Transaction::Open)
            && let Ok(link) = self.link()
            && let Err(error) = link.client.batch_execute("ROLLBACK").await
        {
            self.note(&error);
            return;
        }
        self.transaction = Transaction::None;
    }

    /// Whether the connection broke while this session had it.
    pub(super) fn is_lost(&self) -> bool {
        self.link
            .as_ref()
            .is_none_or(|link| link.lost || link.client.is_closed())
    }

    fn link(&mut self) -> Result<&mut Link, Error> {
        self.link
            .as_deref_mut()
            .ok_or_else(|| Error::unavailable("the connection was given back"))
    }

    /// Translates a failure and draws the consequences for the connection.
    fn note(&mut self, error: &tokio_postgres::Error) -> Error {
        if let Ok(link) = self.link() {
            link.lost |= errors::is_lost(error);
            if errors::is_stale(error) {
                link.prepared = Box::default();
            }
        }
        errors::translate(error)
    }
}

/// A literal text stands where it stands for as long as the program runs.
fn key(text: &'static str) -> (usize, usize) {
    (text.as_ptr().addr(), text.len())
}

impl Drop for Session {
    /// A transaction that is still open must not reach the next job: its connection is closed instead.
    fn drop(&mut self) {
        if let (Transaction::Open, Some(link)) = (&self.transaction, self.link.take()) {
            drop(Object::take(link));
        }
    }
}
