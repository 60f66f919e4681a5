//! Parts of a page that are read independently. A part that cannot be read shows an error in its
//! place.

use crate::rest::Refusal;

/// Marks a part that could not be read. The cause is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnreadPart;

/// The content of a part, or the mark of a failure.
pub(crate) type PagePart<T> = Result<T, UnreadPart>;

/// Reads a part of a page. A database error is logged and marks the part as failed.
///
/// # Errors
///
/// Any other refusal, and an unavailable database, which would fail the other parts, too.
pub(crate) async fn part<T, E: Into<Refusal>>(
    name: &'static str,
    read: impl Future<Output = Result<T, E>>,
) -> Result<PagePart<T>, Refusal> {
    match read.await.map_err(Into::into) {
        Ok(shown) => Ok(Ok(shown)),
        Err(Refusal::Database(error)) if !error.is_unavailable() => {
            tracing::error!(part = name, %error, "a part of a page could not be read: the page shows an error in its place");
            Ok(Err(UnreadPart))
        }
        Err(refusal) => Err(refusal),
    }
}
