//! Parts of a page that are read one by one. A part that cannot be read shows an error in its
//! place; the rest of the page is shown.

use crate::rest::Refusal;

/// A part that could not be read. The cause is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnreadPart;

/// What a page shows in one place.
pub(crate) type PagePart<T> = Result<T, UnreadPart>;

/// The part, to look at.
pub(crate) fn shown<T>(part: &PagePart<T>) -> PagePart<&T> {
    part.as_ref().map_err(|unread| *unread)
}

/// Reads a part of a page. A fault of the store is logged, and the part is marked.
///
/// # Errors
///
/// Every other refusal, and a store that cannot be reached: it has none of the other parts either.
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
