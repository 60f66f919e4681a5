//! Stock documents: goods received, and counts. A draft belongs to its author and can be edited
//! from any session or device. If the author is deleted, it belongs to whoever edits it next. Its lines are booked all together or not at all, and undone in the
//! same way. `receiving` and `counts` define what a document of each kind contains and books.

mod model;
pub(crate) mod store;

#[cfg(test)]
pub(crate) use model::tests;
pub(crate) use model::{Document, DocumentKind, DocumentLine, DocumentSummary};

use db::{Conn, Tx};
use web::locale::Locale;

use super::{archive, movements};
use crate::{
    State,
    access::Caller,
    idempotency::IdempotencyKey,
    rest::{
        Message, Refusal,
        fields::FieldErrors,
        json::{Named, Titled},
    },
    work::{Work, write_once},
};
use model::MAX_DRAFTS;

/// The number of booked documents in a list. Also added to the limit of drafts in a list.
const LISTED: i64 = 10;

/// Line ids with their new quantities. `None` means not counted.
pub(crate) type Quantities = Vec<(i64, Option<i64>)>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SaveResult {
    pub(crate) id: i64,
    pub(crate) outcome: DocumentOutcome,
}

/// The state of a document after a form was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DocumentOutcome {
    /// A draft. If the form added units, the product's title and the units that its line has now.
    Draft(Option<(String, i64)>),
    /// Booked, by this form or before.
    Booked,
    /// Booked by this form, and undone since then.
    Undone,
}

/// A document that the caller may see.
pub(crate) async fn read(
    state: &State,
    caller: &Caller,
    (kind, id): (DocumentKind, i64),
) -> Result<Document, Refusal> {
    let read = async move |conn: &mut Conn| store::find(conn, (kind, id)).await;
    let found = state.db.read::<_, db::Error, _>(read).await?;
    found
        .filter(|document| document.is_seen_by(caller.id))
        .ok_or(Refusal::NotFound)
}

/// The drafts that a user sees, and the documents of all users that were booked last.
pub(crate) async fn list(
    state: &State,
    caller: &Caller,
    kind: DocumentKind,
) -> Result<(Vec<DocumentSummary>, Vec<DocumentSummary>), Refusal> {
    let user = caller.id;
    let read = async move |conn: &mut Conn| {
        // Undoing makes drafts, too, so a user may have more of them than the limit.
        let drafts = store::drafts(conn, kind, user, MAX_DRAFTS + LISTED).await?;
        Ok::<_, db::Error>((drafts, store::booked(conn, kind, LISTED).await?))
    };
    Ok(state.db.read(read).await?)
}

/// Applies `change` to a draft in one transaction. Creates the draft first if `id` is `None`. A
/// retry with the same idempotency key changes nothing. 404 for another user's draft.
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
    let user = Named {
        id: caller.id,
        name: caller.username.clone(),
    };
    let job = async move |work: &mut Work<'_>| {
        let id = match id {
            Some(id) => id,
            None => begin(work, kind, &user).await?,
        };
        let outcome = if store::lock_draft(work.tx, (kind, id), &user, work.now).await? {
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

async fn begin(work: &mut Work<'_>, kind: DocumentKind, user: &Named) -> Result<i64, Refusal> {
    if store::count_drafts(work.tx, kind, user.id).await? >= MAX_DRAFTS {
        return Err(Refusal::Conflict(model::too_many_drafts()));
    }
    Ok(store::insert(work.tx, kind, user, work.now).await?)
}

/// Adds units of a product to a draft. Returns the product's title and the units that its line has
/// now. An error for an unknown product, and for too many lines or units.
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

/// Deletes a draft. Returns whether there was one.
pub(crate) async fn discard(
    state: &State,
    caller: &Caller,
    (kind, id): (DocumentKind, i64),
) -> Result<bool, Refusal> {
    let user = caller.id;
    let write = async move |tx: &mut Tx| store::delete_draft(tx, (kind, id), user).await;
    Ok(state.db.write(write).await?)
}

/// Locks the stock of the products of these lines.
pub(crate) async fn lock_stock<'a>(
    work: &mut Work<'_>,
    lines: impl IntoIterator<Item = &'a DocumentLine>,
) -> Result<(), db::Error> {
    let products = lines.into_iter().map(|line| line.product.id);
    super::store::lock_quantities(work, products).await
}

/// Turns a refusal into a conflict whose message names the line's product.
pub(crate) fn naming(product: &Titled, refusal: Refusal) -> Refusal {
    let title = &product.title;
    let message = match refusal {
        Refusal::Conflict(message) => message,
        Refusal::NotFound => GONE,
        Refusal::Fields(errors) if archive::is_refused(&errors) => ARCHIVED,
        Refusal::Fields(errors) if errors.has("product") => GONE,
        Refusal::Fields(errors) => match errors.first() {
            Some((_, message)) => message.clone(),
            None => return Refusal::Fields(errors),
        },
        other => return other,
    };
    let text = |locale| format!("{title}: {}", message.text(locale));
    Refusal::Conflict(Message::new(text(Locale::PtBr), text(Locale::En)))
}

const GONE: Message = Message::fixed(
    "este produto foi excluído. Remova a linha.",
    "this product was deleted. Remove its line.",
);

const ARCHIVED: Message = Message::fixed(
    "este produto está arquivado. Desarquive-o, ou remova a linha.",
    "this product is archived. Unarchive it, or remove its line.",
);
