//! Several records written in one transaction: all of them, or none and every error at once.

use db::Error;

use crate::{rest::Refusal, work::WriteError};

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

impl<P> From<Refusal> for Failed<P> {
    fn from(refusal: Refusal) -> Self {
        mendable(refusal).map_or_else(|failed| failed, Self::Other)
    }
}

impl<P> WriteError for Failed<P> {
    fn database(&self) -> Option<&Error> {
        match self {
            Self::Database(error) => Some(error),
            _ => None,
        }
    }

    fn is_invalid(&self) -> bool {
        matches!(self, Self::Refused(_))
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

/// What was written, or else what was refused: the inner error.
///
/// # Errors
///
/// What no form can tell, and faults of the store.
pub(super) fn refused<T, P>(
    written: Result<T, Failed<P>>,
) -> Result<Result<T, Vec<(P, Refusal)>>, Refusal> {
    match written {
        Ok(written) => Ok(Ok(written)),
        Err(Failed::Refused(refused)) => Ok(Err(refused)),
        Err(Failed::Other(refusal)) => Err(refusal),
        Err(Failed::Database(error)) => Err(error.into()),
    }
}
