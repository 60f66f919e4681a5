//! Documents of the stock: goods received and counts. A document is its maker's draft over sessions and devices; its lines are booked all or
//! none, and taken back all or none. What a kind holds and becomes is in `receiving` and `counts`.

mod model;
pub(super) mod pages;
pub(super) mod store;

#[cfg(test)]
pub(super) use model::tests;
pub(super) use model::{Document, Kind, Line, Summary};

use db::{Conn, Tx};
use web::locale::Locale;

use super::{Work, archive, counts, movements, receiving};
use crate::{
    State,
    access::Caller,
    idempotency::once,
    rest::{Message, Refusal, fields::FieldErrors, json::Titled, resource::Repeatable},
};
use model::MAX_DRAFTS;

/// Booked documents that a list shows, and drafts beyond those that may be begun.
const LISTED: i64 = 10;

/// What a form did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Saved {
    /// The document.
    pub(super) id: i64,
    pub(super) outcome: Outcome,
}

/// How a document stands after a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A draft, and what was added to it last: the product's title, and how many units its line has now.
    Draft(Option<(String, i64)>),
    /// Booked, by this form or before.
    Booked,
    /// Booked by this form, and undone since.
    Undone,
}

/// Who works on a document, and in which language.
#[derive(Debug, Clone)]
pub(super) struct Context {
    user: i64,
    pub(super) locale: Locale,
    pub(super) work: Work,
}

impl Context {
    fn of(state: &State, caller: &Caller, locale: Locale) -> Self {
        Self {
            user: caller.id,
            locale,
            work: Work::of(state, caller),
        }
    }
}

/// A document; a draft for its maker only.
///
/// # Errors
///
/// [`Refusal::NotFound`], and faults of the store.
pub(super) async fn read(
    state: &State,
    caller: &Caller,
    (kind, id): (Kind, i64),
) -> Result<Document, Refusal> {
    let read = async move |conn: &mut Conn| store::find(conn, (kind, id)).await;
    let found = state.db.read::<_, db::Error, _>(read).await?;
    found
        .filter(|document| document.is_booked() || document.user.id == caller.id)
        .ok_or(Refusal::NotFound)
}

/// A user's drafts, and what anybody booked last.
pub(super) async fn list(
    state: &State,
    caller: &Caller,
    kind: Kind,
) -> Result<(Vec<Summary>, Vec<Summary>), Refusal> {
    let user = caller.id;
    let read = async move |conn: &mut Conn| {
        // Undoing makes drafts too, so there may be more than may be begun.
        let drafts = store::drafts(conn, kind, user, MAX_DRAFTS + LISTED).await?;
        Ok::<_, db::Error>((drafts, store::booked(conn, kind, LISTED).await?))
    };
    Ok(state.db.read(read).await?)
}

/// Changes a draft by `change`, or begins one where `id` is none. All of it happens, or nothing; under the same key it happens once.
///
/// # Errors
///
/// Those of `change`; another's draft; a key that was used with other values; faults of the store.
pub(super) async fn save<F>(
    state: &State,
    (caller, locale): (&Caller, Locale),
    (kind, id): (Kind, Option<i64>),
    is_booking: bool,
    key: Option<Repeatable>,
    change: F,
) -> Result<Saved, Refusal>
where
    F: AsyncFn(&mut Tx, i64, &Context) -> Result<Outcome, Refusal> + Clone + Send + 'static,
{
    let context = Context::of(state, caller, locale);
    let write = async move |tx: &mut Tx| {
        let id = match id {
            Some(id) => id,
            None => begin(tx, kind, &context).await?,
        };
        let outcome = if store::lock_draft(tx, (kind, id), context.user, context.work.now).await? {
            let outcome = change(tx, id, &context).await?;
            if outcome == Outcome::Booked {
                store::set_booked(tx, id, context.work.now).await?;
            }
            outcome
        } else {
            let found = store::find(tx, (kind, id)).await?;
            let booked = found.filter(Document::is_booked);
            booked.map(|_| Outcome::Booked).ok_or(Refusal::NotFound)?
        };
        Ok((id, Saved { id, outcome }))
    };
    let again = async move |tx: &mut Tx, id: i64| {
        let found = store::find(tx, (kind, id)).await?;
        let document = found.ok_or(Refusal::NotFound)?;
        let outcome = if document.is_booked() {
            Outcome::Booked
        } else if is_booking {
            Outcome::Undone
        } else {
            Outcome::Draft(None)
        };
        Ok::<_, Refusal>(Saved { id, outcome })
    };
    let saved = once(state, key, write, again).await?;
    if saved.outcome == Outcome::Booked {
        state.changes.notify();
    }
    Ok(saved)
}

async fn begin(tx: &mut Tx, kind: Kind, context: &Context) -> Result<i64, Refusal> {
    if store::count_drafts(tx, kind, context.user).await? >= MAX_DRAFTS {
        return Err(Refusal::Conflict(model::too_many_drafts()));
    }
    Ok(store::insert(tx, kind, context.user, context.work.now).await?)
}

/// Adds units of a product to a draft: its title, and how many its line has now.
///
/// # Errors
///
/// An unknown product, and more lines or units than a document has; faults of the store.
pub(super) async fn add(
    tx: &mut Tx,
    (kind, id): (Kind, i64),
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
pub(super) async fn undo(
    state: &State,
    (caller, locale): (&Caller, Locale),
    (kind, id): (Kind, i64),
) -> Result<bool, Refusal> {
    let context = Context::of(state, caller, locale);
    let write = async move |tx: &mut Tx| {
        let was_booked = store::reopen(tx, (kind, id), context.work.now).await?;
        let found = store::find(tx, (kind, id)).await?;
        let document = found.ok_or(Refusal::NotFound)?;
        if was_booked {
            match kind {
                Kind::Receipt => receiving::reverse(tx, &document, &context).await?,
                Kind::Count => counts::reverse(tx, &document, &context).await?,
            }
        }
        Ok::<_, Refusal>(was_booked)
    };
    let is_undone = state.db.write(write).await?;
    if is_undone {
        state.changes.notify();
    }
    Ok(is_undone)
}

/// Throws a draft away; whether it was there.
///
/// # Errors
///
/// Faults of the store.
pub(super) async fn discard(
    state: &State,
    caller: &Caller,
    (kind, id): (Kind, i64),
) -> Result<bool, Refusal> {
    let user = caller.id;
    let write = async move |tx: &mut Tx| store::delete_draft(tx, (kind, id), user).await;
    Ok(state.db.write(write).await?)
}

/// Locks the stock of the products of some lines.
pub(super) async fn lock_stock<'a>(
    tx: &mut Tx,
    lines: impl IntoIterator<Item = &'a Line>,
) -> Result<(), db::Error> {
    let products = lines.into_iter().map(|line| line.product.id);
    super::store::lock_quantities(tx, products).await
}

/// A refusal that says which line it is about.
pub(super) fn naming(product: &Titled, refusal: Refusal) -> Refusal {
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
