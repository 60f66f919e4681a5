//! Several records written in one transaction: all of them, or none and every error at once.

use db::Error;

use crate::{idempotency::KeyError, rest::Refusal, work::WriteError};

/// Why nothing was written.
pub(super) enum WriteFailure<P> {
    /// What people can mend, by its place.
    Refused(Vec<(P, Refusal)>),
    /// Anything else that is refused.
    Other(Refusal),
    Database(Error),
}

impl<P> From<Error> for WriteFailure<P> {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl<P> From<Refusal> for WriteFailure<P> {
    fn from(refusal: Refusal) -> Self {
        mendable(refusal).map_or_else(|failed| failed, Self::Other)
    }
}

impl<P> From<KeyError> for WriteFailure<P> {
    fn from(error: KeyError) -> Self {
        Refusal::from(error).into()
    }
}

impl<P> WriteError for WriteFailure<P> {
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

/// A refusal that a form shows; other errors are gathered with it.
pub(super) fn mendable<P>(refusal: Refusal) -> Result<Refusal, WriteFailure<P>> {
    match refusal {
        Refusal::Fields(_) | Refusal::Conflict(_) => Ok(refusal),
        Refusal::Database(error) => Err(WriteFailure::Database(error)),
        other => Err(WriteFailure::Other(other)),
    }
}

/// What was written, or else what was refused: the inner error.
///
/// # Errors
///
/// Refusals that no form shows, and errors of the store.
pub(super) fn refused<T, P>(
    written: Result<T, WriteFailure<P>>,
) -> Result<Result<T, Vec<(P, Refusal)>>, Refusal> {
    match written {
        Ok(written) => Ok(Ok(written)),
        Err(WriteFailure::Refused(refused)) => Ok(Err(refused)),
        Err(WriteFailure::Other(refusal)) => Err(refusal),
        Err(WriteFailure::Database(error)) => Err(error.into()),
    }
}
