//! Undoes a booked document of either kind.

use web::locale::Locale;

use super::{
    counts,
    documents::{DocumentKind, store},
    receiving,
};
use crate::{
    State,
    access::Caller,
    rest::Refusal,
    work::{Work, write},
};

/// Undoes a booked document and makes it a draft again. Returns false if it was not booked. 409
/// that names the line that cannot be undone; nothing is undone then.
pub(crate) async fn document(
    state: &State,
    (caller, locale): (&Caller, Locale),
    (kind, id): (DocumentKind, i64),
) -> Result<bool, Refusal> {
    let job = async move |work: &mut Work<'_>| {
        let was_booked = store::reopen(work.tx, (kind, id), work.now).await?;
        let found = store::find(work.tx, (kind, id)).await?;
        let document = found.ok_or(Refusal::NotFound)?;
        if was_booked {
            match kind {
                DocumentKind::Receipt => receiving::reverse(work, &document).await?,
                DocumentKind::Count => counts::adjust(work, &document, locale, true).await?,
            }
            store::forget_booking(work.tx, id).await?;
        }
        Ok::<_, Refusal>(was_booked)
    };
    write(state, caller, job).await
}
