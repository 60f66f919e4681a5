//! Several records written in one transaction: all of them, or none and every error at once.

use db::{Error, ErrorKind, Tx};

use crate::{State, rest::Refusal};

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

/// Runs the transaction and tells open pages of it. What another request did between a check and a write is met by the check of a second
/// attempt. What was refused is answered as the inner error.
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
    let mut written = state.db.write(write.clone()).await;
    if matches!(&written, Err(Failed::Database(error)) if is_race(error)) {
        written = state.db.write(write).await;
    }
    match written {
        Ok(written) => {
            state.pulse.beat();
            Ok(Ok(written))
        }
        Err(Failed::Refused(refused)) => Ok(Err(refused)),
        Err(Failed::Other(refusal)) => Err(refusal),
        Err(Failed::Database(error)) => Err(error.into()),
    }
}

fn is_race(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unique(_) | ErrorKind::ForeignKey(_)
    )
}
