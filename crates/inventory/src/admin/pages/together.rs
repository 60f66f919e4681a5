//! Several records written in one transaction: all of them, or none and every error at once.

use db::{Error, Tx};

use crate::{
    State,
    rest::Refusal,
    retry::{self, DatabaseError},
};

/// Why nothing was written.
pub(super) enum Failed<P> {
    /// What people can mend, by its place.
    Refused(Vec<(P, Refusal)>),
    /// Anything else that is refused.
    Other(Refusal),
    Database(Error),
}

impl<P> From<Error> for Failed<P> {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl<P> DatabaseError for Failed<P> {
    fn database(&self) -> Option<&Error> {
        match self {
            Self::Database(error) => Some(error),
            _ => None,
        }
    }
}

/// A refusal that a form tells, so that what else is wrong can be told with it.
pub(super) fn mendable<P>(refusal: Refusal) -> Result<Refusal, Failed<P>> {
    match refusal {
        Refusal::Fields(_) | Refusal::Conflict(_) => Ok(refusal),
        Refusal::Database(error) => Err(Failed::Database(error)),
        other => Err(Failed::Other(other)),
    }
}

/// Why nothing was written, where no form tells it yet.
pub(super) fn other<P>(refusal: Refusal) -> Failed<P> {
    mendable(refusal).map_or_else(|failed| failed, Failed::Other)
}

/// Runs the transaction and tells open pages of it. What was refused is answered as the inner error.
///
/// # Errors
///
/// What no form can tell, and faults of the store.
pub(super) async fn written<T, P, F>(
    state: &State,
    write: F,
) -> Result<Result<T, Vec<(P, Refusal)>>, Refusal>
where
    F: AsyncFn(&mut Tx) -> Result<T, Failed<P>> + Clone + Send + 'static,
    T: Send + 'static,
    P: Send + 'static,
{
    match retry::on_conflict(&state.db, write).await {
        Ok(written) => {
            state.pulse.beat();
            Ok(Ok(written))
        }
        Err(Failed::Refused(refused)) => Ok(Err(refused)),
        Err(Failed::Other(refusal)) => Err(refusal),
        Err(Failed::Database(error)) => Err(error.into()),
    }
}
