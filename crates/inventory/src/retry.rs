//! Writes that two requests may race for. The rules of the database settle who was first.

use db::{Db, Tx};

use crate::rest::Refusal;

/// An error that may come from the database.
pub(crate) trait DatabaseError: From<db::Error> {
    /// The error of the database.
    fn database(&self) -> Option<&db::Error>;
}

impl DatabaseError for Refusal {
    fn database(&self) -> Option<&db::Error> {
        match self {
            Self::Database(error) => Some(error),
            _ => None,
        }
    }
}

/// Runs a write, and once more when a rule of the database refused it. Another request then came between its check and its write, and
/// the check of the second run tells what that request did.
///
/// # Errors
///
/// Those of the write.
pub(crate) async fn on_conflict<T, E, F>(db: &Db, write: F) -> Result<T, E>
where
    F: AsyncFn(&mut Tx) -> Result<T, E> + Clone + Send + 'static,
    T: Send + 'static,
    E: DatabaseError + Send + 'static,
{
    match db.write(write.clone()).await {
        Err(error) if error.database().is_some_and(db::Error::is_conflict) => db.write(write).await,
        written => written,
    }
}
