//! A read that is prepared before its connection is chosen, so that it can share a database job with the lookup of the caller's account.
//! What is read is the resources' business.

use std::pin::Pin;

use db::{Conn, Db};

use super::refusal::Refusal;
use crate::State;

/// What reads a record or a page over a connection that it is lent: in a job of its own, or in the one that finds out who calls. It may
/// run again.
pub struct Reading<T> {
    what: Box<dyn Run<T>>,
    is_look_up: bool,
}

type LocalFuture<'conn, T> = Pin<Box<dyn Future<Output = T> + 'conn>>;

trait Run<T>: Send + Sync {
    fn run<'conn>(&'conn self, conn: &'conn mut Conn) -> LocalFuture<'conn, Result<T, Refusal>>;
}

/// What a reading needs to know, and what it does.
struct Prepared<K, F>(K, F);

impl<T, K, F> Run<T> for Prepared<K, F>
where
    K: Send + Sync,
    F: AsyncFn(&K, &mut Conn) -> Result<T, Refusal> + Send + Sync,
{
    fn run<'conn>(&'conn self, conn: &'conn mut Conn) -> LocalFuture<'conn, Result<T, Refusal>> {
        Box::pin((self.1)(&self.0, conn))
    }
}

impl<T: Send + 'static> Reading<T> {
    /// Reads by `read` what `known` asks for.
    pub fn new<K, F>(known: K, read: F) -> Self
    where
        K: Send + Sync + 'static,
        F: AsyncFn(&K, &mut Conn) -> Result<T, Refusal> + Send + Sync + 'static,
    {
        Self {
            what: Box::new(Prepared(known, read)),
            is_look_up: false,
        }
    }

    /// As [`new`](Self::new), for a few rows that are found by their keys.
    pub fn look_up<K, F>(known: K, read: F) -> Self
    where
        K: Send + Sync + 'static,
        F: AsyncFn(&K, &mut Conn) -> Result<T, Refusal> + Send + Sync + 'static,
    {
        let is_look_up = true;
        Self {
            is_look_up,
            ..Self::new(known, read)
        }
    }

    /// The same, as a look-up if it is as short as one: a page that an index leads to at once.
    #[must_use]
    pub fn look_up_if(self, is_short: bool) -> Self {
        Self {
            is_look_up: is_short,
            ..self
        }
    }

    /// Whether it is of a few rows that are found by their keys, or as short.
    pub const fn is_look_up(&self) -> bool {
        self.is_look_up
    }

    /// Reads over `conn`.
    ///
    /// # Errors
    ///
    /// Its own.
    pub async fn over(&self, conn: &mut Conn) -> Result<T, Refusal> {
        self.what.run(conn).await
    }

    /// Reads in a job of its own.
    ///
    /// # Errors
    ///
    /// Its own.
    pub async fn alone(self, state: &State) -> Result<T, Refusal> {
        let is_look_up = self.is_look_up;
        let read = async move |conn: &mut Conn| self.over(conn).await;
        in_a_job(&state.db, is_look_up, read).await
    }
}

/// Runs a job that reads: as a look-up or not.
///
/// # Errors
///
/// Those of the job, and faults of the store.
pub async fn in_a_job<T, E>(
    db: &Db,
    is_look_up: bool,
    job: impl AsyncFn(&mut Conn) -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<db::Error> + Send + 'static,
{
    if is_look_up {
        db.look_up(job).await
    } else {
        db.read(job).await
    }
}
