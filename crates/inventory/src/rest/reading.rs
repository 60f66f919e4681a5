//! A reading that is prepared before it is known over which connection it is done, so that it can share the job that finds out who calls.
//! What is read is the resources' business.

use std::pin::Pin;

use db::Conn;

use super::refusal::Refusal;
use crate::State;

/// What reads a record or a page over a connection that it is lent: in a job of its own, or in the one that finds out who calls. It may
/// run again.
pub struct Reading<T>(Box<dyn Run<T>>);

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
        Self(Box::new(Prepared(known, read)))
    }

    /// Reads over `conn`.
    ///
    /// # Errors
    ///
    /// Its own.
    pub async fn over(&self, conn: &mut Conn) -> Result<T, Refusal> {
        self.0.run(conn).await
    }

    /// Reads in a job of its own.
    ///
    /// # Errors
    ///
    /// Its own.
    pub async fn alone(self, state: &State) -> Result<T, Refusal> {
        state.db.read(async move |conn| self.over(conn).await).await
    }
}
