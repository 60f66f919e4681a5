//! Documents of the stock: goods received and counts. A document is its maker's draft over sessions
//! and devices; its lines are booked all or none, and taken back all or none. What a kind holds and
//! becomes is in `receiving` and `counts`.

mod model;
pub(crate) mod store;

#[cfg(test)]
pub(crate) use model::tests;
pub(crate) use model::{Document, DocumentKind, DocumentLine, DocumentSummary};

use db::{Conn, Tx};
use web::locale::Locale;

use super::{archive, counts, movements, receiving};
use crate::{
    State,
    access::Caller,
    idempotency::IdempotencyKey,
    rest::{Message, Refusal, fields::FieldErrors, json::Titled},
    work::{Work, write, write_once},
};
use model::MAX_DRAFTS;

/// Booked documents that a list shows, and drafts beyond those that may be begun.
const LISTED: i64 = 10;

/// Lines, and their new quantities; none of what is not counted.
pub(crate) type Quantities = Vec<(i64, Option<i64>)>;

/// What a form did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SaveResult {
    /// The document.
    pub(crate) id: i64,
    pub(crate) outcome: DocumentOutcome,
}

/// How a document stands after a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DocumentOutcome {
    /// A draft, and what was added to it last: the product's title, and how many units its line has
    /// now.
    Draft(Option<(String, i64)>),
    /// Booked, by this form or before.
    Booked,
    /// Booked by this form, and undone since.
    Undone,
}

/// A document; a draft for its maker only.
///
/// # Errors
///
/// [`Refusal::NotFound`], and faults of the store.
pub(crate) async fn read(
    state: &State,
    caller: &Caller,
    (kind, id): (DocumentKind, i64),
) -> Result<Document, Refusal> {
    let read = async move |conn: &mut Conn| store::find(conn, (kind, id)).await;
    let found = state.db.read::<_, db::Error, _>(read).await?;
    found
        .filter(|document| document.is_booked() || document.user.id == caller.id)
        .ok_or(Refusal::NotFound)
}

/// A user's drafts, and what anybody booked last.
pub(crate) async fn list(
    state: &State,
    caller: &Caller,
    kind: DocumentKind,
) -> Result<(Vec<DocumentSummary>, Vec<DocumentSummary>), Refusal> {
    let user = caller.id;
    let read = async move |conn: &mut Conn| {
        // Undoing makes drafts too, so there may be more than may be begun.
        let drafts = store::drafts(conn, kind, user, MAX_DRAFTS + LISTED).await?;
        Ok::<_, db::Error>((drafts, store::booked(conn, kind, LISTED).await?))
    };
    Ok(state.db.read(read).await?)
}

/// Changes a draft by `change`, or begins one where `id` is none. All of it happens, or nothing;
/// under the same key it happens once.
///
/// # Errors
///
/// Those of `change`; another's draft; a key that was used with other values; faults of the store.
pub(crate) async fn save<F>(
    state: &State,
    caller: &Caller,
    (kind, id): (DocumentKind, Option<i64>),
    is_booking: bool,
    key: Option<IdempotencyKey>,
    change: F,
) -> Result<SaveResult, Refusal>
where
    F: AsyncFn(&mut Work<'_>, i64) -> Result<DocumentOutcome, Refusal> + Clone + Send + 'static,
{
    let user = caller.id;
    let job = async move |work: &mut Work<'_>| {
        let id = match id {
            Some(id) => id,
            None => begin(work, kind, user).await?,
        };
        let outcome = if store::lock_draft(work.tx, (kind, id), user, work.now).await? {
            let outcome = change(work, id).await?;
            if outcome == DocumentOutcome::Booked {
                store::set_booked(work.tx, id, work.now).await?;
            }
            outcome
        } else {
            let found = store::find(work.tx, (kind, id)).await?;
            let booked = found.filter(Document::is_booked);
            booked
                .map(|_| DocumentOutcome::Booked)
                .ok_or(Refusal::NotFound)?
        };
        Ok((id, SaveResult { id, outcome }))
    };
    let replay = async move |work: &mut Work<'_>, id: i64| {
        let found = store::find(work.tx, (kind, id)).await?;
        let document = found.ok_or(Refusal::NotFound)?;
        let outcome = if document.is_booked() {
            DocumentOutcome::Booked
        } else if is_booking {
            DocumentOutcome::Undone
        } else {
            DocumentOutcome::Draft(None)
        };
        Ok(SaveResult { id, outcome })
    };
    write_once(state, caller, key, job, replay).await
}

async fn begin(work: &mut Work<'_>, kind: DocumentKind, user: i64) -> Result<i64, Refusal> {
    if store::count_drafts(work.tx, kind, user).await? >= MAX_DRAFTS {
        return Err(Refusal::Conflict(model::too_many_drafts()));
    }
    Ok(store::insert(work.tx, kind, user, work.now).await?)
}

/// Adds units of a product to a draft: its title, and how many its line has now.
///
/// # Errors
///
/// An unknown product, and more lines or units than a document has; faults of the store.
pub(crate) async fn add(
    tx: &mut Tx,
    (kind, id): (DocumentKind, i64),
    product: i64,
    quantity: i64,
) -> Result<(String, i64), Refusal> {
    let Some(titled) = movements::store::product(tx, product).await? else {
        let unknown = Message::unknown_record(&product.to_string());
        return Err(FieldErrors::of("product", unknown).into());
    };
    let lines = store::lines(tx, id).await?;
    let quantity = kind.add_up(&lines, product, quantity)?;
    store::put_line(tx, id, &titled, Some(quantity)).await?;
    Ok((titled.title, quantity))
}

/// Takes back what became of a document, and leaves a draft; whether it was booked.
///
/// # Errors
///
/// 409 that names the line that cannot be taken back: then all of them stay. Faults of the store.
pub(crate) async fn undo(
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
                DocumentKind::Count => counts::reverse(work, &document, locale).await?,
            }
        }
        Ok::<_, Refusal>(was_booked)
    };
    write(state, caller, job).await
}

/// Throws a draft away; whether it was there.
pub(crate) async fn discard(
    state: &State,
    caller: &Caller,
    (kind, id): (DocumentKind, i64),
) -> Result<bool, Refusal> {
    let user = caller.id;
    let write = async move |tx: &mut Tx| store::delete_draft(tx, (kind, id), user).await;
    Ok(state.db.write(write).await?)
}

/// Locks the stock of the products of some lines.
pub(crate) async fn lock_stock<'a>(
    tx: &mut Tx,
    lines: impl IntoIterator<Item = &'a DocumentLine>,
) -> Result<(), db::Error> {
    let products = lines.into_iter().map(|line| line.product.id);
    super::store::lock_quantities(tx, products).await
}

/// A refusal that says which line it is about.
pub(crate) fn naming(product: &Titled, refusal: Refusal) -> Refusal {
    let title = &product.title;
    let message = match refusal {
        Refusal::Conflict(message) => message,
        Refusal::NotFound => GONE,
        Refusal::Fields(errors) if archive::is_refused(&errors) => ARCHIVED,
        Refusal::Fields(errors) if errors.has("product") => GONE,
        Refusal::Fields(errors) => {
            let first = errors.iter().find_map(|(_, messages)| messages.first());
            match first.cloned() {
                Some(message) => message,
                None => return Refusal::Fields(errors),
            }
        }
        other => return other,
    };
    let said = |locale| format!("{title}: {}", message.text(locale));
    Refusal::Conflict(Message::new(said(Locale::PtBr), said(Locale::En)))
}

const GONE: Message = Message::fixed(
    "este produto foi excluído. Remova a linha.",
    "this product was deleted. Remove its line.",
);

const ARCHIVED: Message = Message::fixed(
    "este produto está arquivado. Desarquive-o, ou remova a linha.",
    "this product is archived. Unarchive it, or remove its line.",
);
