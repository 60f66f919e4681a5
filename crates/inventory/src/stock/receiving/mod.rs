//! Receiving goods: the lines of one supplier's invoice, kept as a draft of whoever types them, and booked as ordinary inflows, all of them
//! or none. Undoing deletes them all, or none, and leaves the draft. How one movement is booked and deleted is in `movements`.

mod model;
pub(crate) mod pages;
mod store;

use db::{Conn, Timestamp, Tx};
use serde_json::value::to_raw_value;
use web::locale::Locale;

use super::{
    Actor, Policy, archive,
    movements::{self, Movement, within},
};
use crate::{
    State,
    accounts::Caller,
    idempotency::once,
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members},
        json::Named,
        resource::Repeatable,
    },
};
use model::{Change, Line, MAX_DRAFTS, Receipt, Step, Summary};

/// Receipts that the page of them tells.
const TOLD: i64 = 10;

/// What a form did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Saved {
    /// The receipt.
    pub(crate) id: i64,
    pub(crate) outcome: Outcome,
}

/// How a receipt stands after a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A draft, and what was added to it: the product's title, and how many units its line has now.
    Draft(Option<(String, i64)>),
    /// Booked, by this form or before.
    Booked,
    /// Booked by this form, and undone since.
    Undone,
}

/// Who changes something, and when.
#[derive(Debug, Clone)]
struct Context {
    user: i64,
    actor: Actor,
    policy: Policy,
    locale: Locale,
    now: Timestamp,
}

impl Context {
    fn of(state: &State, caller: &Caller, locale: Locale) -> Self {
        Self {
            user: caller.id,
            actor: Actor::from(caller),
            policy: Policy::from(&state.config),
            locale,
            now: state.clock.now(),
        }
    }
}

/// A receipt; a draft for its maker only.
///
/// # Errors
///
/// [`Refusal::NotFound`], and faults of the store.
pub(crate) async fn read(state: &State, caller: &Caller, id: i64) -> Result<Receipt, Refusal> {
    let read = async move |conn: &mut Conn| store::find(conn, id).await;
    let found = state.db.read::<_, db::Error, _>(read).await?;
    found
        .filter(|receipt| receipt.is_booked() || receipt.user.id == caller.id)
        .ok_or(Refusal::NotFound)
}

/// A user's drafts, and what anybody booked last.
pub(crate) async fn list(
    state: &State,
    caller: &Caller,
) -> Result<(Vec<Summary>, Vec<Summary>), Refusal> {
    let user = caller.id;
    let read = async move |conn: &mut Conn| {
        // Undoing makes drafts too, so there may be more than may be begun.
        let drafts = store::drafts(conn, user, MAX_DRAFTS + TOLD).await?;
        Ok::<_, db::Error>((drafts, store::booked(conn, TOLD).await?))
    };
    Ok(state.db.read(read).await?)
}

/// Changes a draft, or begins one where `id` is none; books it where that is asked. All of it happens, or nothing.
///
/// # Errors
///
/// What is wrong with a field or a line; another's draft; a key that was used with other values; faults of the store.
pub(crate) async fn save(
    state: &State,
    caller: &Caller,
    id: Option<i64>,
    change: Change,
    key: Option<Repeatable>,
    locale: Locale,
) -> Result<Saved, Refusal> {
    let context = Context::of(state, caller, locale);
    let is_booking = change.step == Step::Book;
    let write = async move |tx: &mut Tx| {
        let id = match id {
            Some(id) => id,
            None => begin(tx, &context).await?,
        };
        let outcome = apply(tx, id, &change, &context).await?;
        Ok((id, Saved { id, outcome }))
    };
    let again = async move |tx: &mut Tx, id: i64| {
        let receipt = store::find(tx, id).await?.ok_or(Refusal::NotFound)?;
        let outcome = if receipt.is_booked() {
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
        state.pulse.beat();
    }
    Ok(saved)
}

async fn begin(tx: &mut Tx, context: &Context) -> Result<i64, Refusal> {
    if store::count_drafts(tx, context.user).await? >= MAX_DRAFTS {
        return Err(Refusal::Conflict(model::too_many_drafts()));
    }
    Ok(store::insert(tx, context.user, context.now).await?)
}

async fn apply(
    tx: &mut Tx,
    id: i64,
    change: &Change,
    context: &Context,
) -> Result<Outcome, Refusal> {
    if !store::lock_draft(tx, id, context.user, context.now).await? {
        let found = store::find(tx, id).await?;
        return match found.filter(Receipt::is_booked) {
            Some(_) => Ok(Outcome::Booked),
            None => Err(Refusal::NotFound),
        };
    }
    if let Some(supplier) = change.supplier
        && movements::store::supplier(tx, supplier).await?.is_none()
    {
        let unknown = Message::unknown_record(&supplier.to_string());
        return Err(FieldErrors::of("supplier", unknown).into());
    }
    store::set_header(tx, id, change.supplier, &change.invoice).await?;
    for (line, quantity) in &change.quantities {
        store::set_quantity(tx, id, *line, *quantity).await?;
    }
    let added = match change.added {
        Some((product, quantity)) => Some(add(tx, id, product, quantity).await?),
        None => None,
    };
    match change.step {
        Step::Keep => {}
        Step::Remove(line) => store::delete_line(tx, id, line).await?,
        Step::Book => {
            book(tx, id, context).await?;
            return Ok(Outcome::Booked);
        }
    }
    Ok(Outcome::Draft(added))
}

/// Adds units of a product: its title, and how many its line has now.
async fn add(tx: &mut Tx, id: i64, product: i64, quantity: i64) -> Result<(String, i64), Refusal> {
    let Some(titled) = movements::store::product(tx, product).await? else {
        let unknown = Message::unknown_record(&product.to_string());
        return Err(FieldErrors::of("product", unknown).into());
    };
    let lines = store::lines(tx, id).await?;
    let quantity = model::add_up(&lines, product, quantity)?;
    store::put_line(tx, id, &titled, quantity).await?;
    Ok((titled.title, quantity))
}

/// Books every line of a draft, in the order in which they were added.
async fn book(tx: &mut Tx, id: i64, context: &Context) -> Result<(), Refusal> {
    let receipt = store::find(tx, id).await?.ok_or(Refusal::NotFound)?;
    let supplier = receipt.supplier.as_ref();
    let supplier = supplier.ok_or_else(|| FieldErrors::of("supplier", Message::REQUIRED))?;
    if receipt.lines.is_empty() {
        return Err(FieldErrors::of("product", NOTHING_TO_BOOK).into());
    }
    lock_stock(tx, &receipt.lines).await?;
    let description = receipt.description(context.locale);
    let who = (&context.actor, context.policy);
    for line in receipt.lines.iter().rev() {
        let members = members(supplier, line, description.as_deref());
        let booked = within::create(tx, Movement::Inflow, &members, who, context.now).await;
        let inflow = booked.map_err(|refusal| naming(line, refusal))?;
        store::set_inflow(tx, line.id, inflow.id).await?;
    }
    Ok(store::set_booked(tx, id, context.now).await?)
}

async fn lock_stock(tx: &mut Tx, lines: &[Line]) -> Result<(), db::Error> {
    let products = lines.iter().map(|line| line.product.id);
    super::store::lock_quantities(tx, products).await
}

/// A line as what creates an inflow.
fn members(supplier: &Named, line: &Line, description: Option<&str>) -> Members {
    let fields = [
        ("supplier", to_raw_value(&supplier.id)),
        ("product", to_raw_value(&line.product.id)),
        ("quantity", to_raw_value(&line.quantity)),
        ("description", to_raw_value(&description)),
    ];
    // Numbers and texts are always JSON.
    let fields = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value.ok()?)));
    fields.collect()
}

/// A refusal that says which line it is about.
fn naming(line: &Line, refusal: Refusal) -> Refusal {
    let title = &line.product.title;
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

const NOTHING_TO_BOOK: Message = Message::fixed(
    "Adicione pelo menos um produto.",
    "Add at least one product.",
);
const GONE: Message = Message::fixed(
    "este produto foi excluído. Remova a linha.",
    "this product was deleted. Remove its line.",
);

const ARCHIVED: Message = Message::fixed(
    "este produto está arquivado. Desarquive-o, ou remova a linha.",
    "this product is archived. Unarchive it, or remove its line.",
);

/// Takes back all inflows of a receipt that are still there, and leaves a draft; whether it was booked.
///
/// # Errors
///
/// 409 that names the line whose goods have left already: then all of them stay. Faults of the store.
pub(crate) async fn undo(state: &State, caller: &Caller, id: i64) -> Result<bool, Refusal> {
    let context = Context::of(state, caller, Locale::PtBr);
    let write = async move |tx: &mut Tx| reverse(tx, id, &context).await;
    let is_undone = state.db.write(write).await?;
    if is_undone {
        state.pulse.beat();
    }
    Ok(is_undone)
}

async fn reverse(tx: &mut Tx, id: i64, context: &Context) -> Result<bool, Refusal> {
    let was_booked = store::reopen(tx, id, context.now).await?;
    let receipt = store::find(tx, id).await?.ok_or(Refusal::NotFound)?;
    if !was_booked {
        return Ok(false);
    }
    lock_stock(tx, &receipt.lines).await?;
    let who = (&context.actor, context.policy);
    for line in &receipt.lines {
        if let Some(inflow) = line.inflow {
            let deleted = within::delete(tx, Movement::Inflow, inflow, who, context.now).await;
            deleted.map_err(|refusal| naming(line, refusal))?;
        }
    }
    store::forget_inflows(tx, id).await?;
    Ok(true)
}

/// Throws a draft away; whether it was there.
///
/// # Errors
///
/// Faults of the store.
pub(crate) async fn discard(state: &State, caller: &Caller, id: i64) -> Result<bool, Refusal> {
    let user = caller.id;
    let write = async move |tx: &mut Tx| store::delete_draft(tx, id, user).await;
    Ok(state.db.write(write).await?)
}
