//! Inflows and outflows: immutable records of goods that moved. Creating one changes the product's quantity, deleting one reverses it,
//! each in one transaction with its ledger row and its events.

mod api;
mod at_once;
mod model;
pub(crate) mod pages;
mod removal;
pub(crate) mod repeat;
pub(crate) mod search;
pub(super) mod store;
mod trace;
pub(crate) mod within;
mod words;

pub(crate) use model::{INFLOW_WORDS, MovementEntry, OUTFLOW_WORDS};
pub use model::{Movement, MovementRecord};
pub use removal::delete;
pub(crate) use removal::{examine_removal, foresee, revert};

use db::{Conn, Timestamp, Tx};
use web::locale::Locale;

use super::{Actor, Impossible, Policy, events, ledger};
use crate::{
    State,
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members},
        given::Given,
        json::{Named, Titled},
        query::Parameters,
        resource::{Created, Page, Submission, Wanted},
    },
    retry,
};
use ledger::Entry;
use model::Input;
use store::{DAYS, Measured, NEWEST_FIRST, Selection};
pub(crate) use store::{after, find};
pub(crate) use trace::{booking, span};

/// One page of the movements that the query string selects.
///
/// # Errors
///
/// Filters that cannot be read, a page that does not exist, and faults of the store.
pub async fn list(
    state: &State,
    movement: Movement,
    parameters: &Parameters,
) -> Result<Page<MovementRecord>, Refusal> {
    let selection = Selection::parse(movement, parameters)?;
    let wanted = Wanted::parse(state, parameters)?;
    let read = async move |conn: &mut Conn| {
        let measured = selection.measure(conn).await?;
        let (number, offset) = wanted.within(measured.count)?;
        let results = selection
            .page(conn, &measured, wanted.limit(), offset)
            .await?;
        Ok(Page {
            count: measured.count,
            number,
            size: wanted.size,
            results,
        })
    };
    state.db.read(read).await
}

/// Every movement that a list selects, in its order.
///
/// # Errors
///
/// Filters that cannot be read, faults of the store, and those of `take`.
pub(crate) async fn each(
    conn: &mut Conn,
    movement: Movement,
    parameters: &Parameters,
    take: impl FnMut(&MovementRecord) -> Result<(), db::Error>,
) -> Result<(), Refusal> {
    let selection = Selection::parse(movement, parameters)?;
    let measured = selection.measure(conn).await?;
    Ok(selection.each(conn, &measured, take).await?)
}

/// What is wrong with the fields of a form, as far as it can be told without the store.
pub(crate) fn problems(movement: Movement, members: &Members) -> FieldErrors {
    Input::read(movement, members).1
}

/// One movement.
///
/// # Errors
///
/// Faults of the store.
pub async fn read(
    state: &State,
    movement: Movement,
    id: i64,
) -> Result<Option<MovementRecord>, Refusal> {
    let find = async move |conn: &mut Conn| store::find(conn, movement, id).await;
    Ok(state.db.look_up::<_, db::Error, _>(find).await?)
}

/// Books a movement. With an `Idempotency-Key` a repetition of the same request answers the same and books nothing.
///
/// # Errors
///
/// Invalid fields, insufficient stock among them; a key used for another request; faults of the store.
pub async fn create(
    state: &State,
    movement: Movement,
    submission: Submission,
) -> Result<Created<MovementRecord>, Refusal> {
    let (input, errors) = Input::read(movement, &submission.members);
    let (policy, now) = (Policy::from(&state.config), state.clock.now());
    let repeatable = submission.repeatable(movement.path());
    if repeatable.is_none()
        && errors.is_empty()
        && let Some(record) =
            at_once::outflow(state, &submission.caller, movement, &input, now).await?
    {
        state.pulse.beat();
        return Ok(Created::New(record));
    }
    let actor = Actor::from(&submission.caller);
    let write = async move |tx: &mut Tx| {
        let (read, key) = ((&input, errors.clone()), repeatable.as_ref());
        within::booked(tx, movement, read, key, (&actor, policy), now).await
    };
    let booked = retry::on_conflict(&state.db, write).await?;
    if matches!(booked, Created::New(_)) {
        state.pulse.beat();
    }
    Ok(booked)
}

/// Adds a movement that an import brings, within a transaction. One that is older than its product's opening is history, which the
/// opening quantity counts already: it is recorded, and the quantity stays as it is. Any other changes it, as in the API.
pub(crate) async fn add(
    tx: &mut Tx,
    movement: Movement,
    members: &Members,
    given: &Given,
    actor: &Actor,
    policy: Policy,
    now: Timestamp,
) -> Result<i64, Refusal> {
    let (input, errors) = Input::read(movement, members);
    let found = check(tx, movement, &input, errors).await?;
    let opened_at = super::opened_at(tx, found.product.id).await?;
    if !is_history(given, opened_at) {
        let record = book(tx, movement, found, given, actor, policy, now).await?;
        return Ok(record.id);
    }
    let record = found.into_record(given.created_at.unwrap_or(now));
    let id = insert(tx, movement, given.id, &record).await?;
    let entry = entry(movement, id, &record, actor);
    let recorded = ledger::record_past(tx, &entry).await?;
    recorded.map_err(refused)?;
    Ok(id)
}

/// What is wrong with a movement that an import brings, before anything is written; else the product whose quantity it would change, and
/// that quantity. `known` are quantities after earlier rows.
pub(crate) async fn examine(
    conn: &mut Conn,
    movement: Movement,
    members: &Members,
    given: &Given,
    known: impl Fn(i64) -> Option<i64>,
) -> Result<Option<(i64, i64)>, Refusal> {
    let (input, errors) = Input::read(movement, members);
    let found = check(conn, movement, &input, errors).await?;
    let product = found.product.id;
    let before = match known(product) {
        Some(quantity) => Some(quantity),
        None => super::store::quantity(conn, product).await?,
    };
    let before = before.ok_or(Refusal::NotFound)?;
    let too_many = || refused(Impossible::TooMany(before));
    let opened_at = super::opened_at(conn, product).await?;
    if is_history(given, opened_at) {
        let most = before.checked_add(found.quantity);
        return most.map(|_| None).ok_or_else(too_many);
    }
    match before.checked_add(movement.change(found.quantity)) {
        Some(after) if after >= 0 => Ok(Some((product, after))),
        Some(_) => Err(refused(Impossible::Insufficient(before))),
        None => Err(too_many()),
    }
}

/// Whether a movement is older than its product's opening, which counts it already.
fn is_history(given: &Given, opened_at: Option<Timestamp>) -> bool {
    let both = given.created_at.zip(opened_at);
    both.is_some_and(|(at, opened_at)| at <= opened_at)
}

/// The movements that were booked last, the newest first.
pub(crate) async fn latest(
    conn: &mut Conn,
    movement: Movement,
    limit: i64,
) -> Result<Vec<MovementRecord>, db::Error> {
    // However many there are: the newest come in order from an index.
    let some = Measured::of(u64::try_from(limit).unwrap_or(1));
    Selection::newest(movement)
        .page(conn, &some, limit, 0)
        .await
}

/// How many movements there are.
pub(crate) async fn count(conn: &mut Conn, movement: Movement) -> Result<u64, Refusal> {
    let selection = Selection::parse(movement, &Parameters::parse(""))?;
    Ok(selection.measure(conn).await?.count)
}

fn entry<'a>(movement: Movement, id: i64, record: &MovementRecord, actor: &'a Actor) -> Entry<'a> {
    Entry {
        product: record.product.id,
        kind: movement.kinds().0,
        change: movement.change(record.quantity),
        reference: Some(id),
        supplier: record.supplier.as_ref().map(|supplier| supplier.id),
        booked_at: record.created_at,
        actor,
        now: record.created_at,
    }
}

/// Books one movement within a transaction.
async fn book(
    tx: &mut Tx,
    movement: Movement,
    found: Found,
    given: &Given,
    actor: &Actor,
    policy: Policy,
    now: Timestamp,
) -> Result<MovementRecord, Refusal> {
    let mut record = found.into_record(given.created_at.unwrap_or(now));
    record.id = insert(tx, movement, given.id, &record).await?;
    let entry = entry(movement, record.id, &record, actor);
    let changed = ledger::apply(tx, &entry).await?.map_err(refused)?;
    match movement {
        Movement::Outflow => events::after_outflow(tx, &record, changed, policy, now).await?,
        Movement::Inflow => {
            events::after_other(tx, record.product.id, changed, policy, now).await?;
        }
    }
    Ok(record)
}

/// Stores a movement. An inflow has its product's title beside it: whoever changes that holds the stock row, so it is locked first.
async fn insert(
    tx: &mut Tx,
    movement: Movement,
    id: Option<i64>,
    record: &MovementRecord,
) -> Result<i64, Refusal> {
    if movement == Movement::Inflow {
        super::store::lock_quantity(tx, record.product.id).await?;
    }
    Ok(store::insert(tx, movement, id, record).await?)
}

/// A movement whose references were found.
struct Found {
    supplier: Option<Named>,
    product: Titled,
    quantity: i64,
    description: Option<String>,
}

impl Found {
    /// The record of it, before it is stored.
    fn into_record(self, at: Timestamp) -> MovementRecord {
        MovementRecord {
            id: 0,
            supplier: self.supplier,
            product: self.product,
            quantity: self.quantity,
            description: self.description,
            created_at: at,
            updated_at: at,
        }
    }
}

/// Adds what only the store knows to the errors of the fields, and refuses when there is any.
async fn check(
    conn: &mut Conn,
    movement: Movement,
    input: &Input,
    mut errors: FieldErrors,
) -> Result<Found, Refusal> {
    let mut supplier = None;
    if let Some(reference) = &input.supplier {
        supplier = store::supplier(conn, reference.id).await?;
        if supplier.is_none() {
            errors.add("supplier", Message::unknown_record(&reference.sent));
        }
    }
    let mut product = None;
    if let Some(reference) = &input.product {
        product = store::product(conn, reference.id).await?;
        if product.is_none() {
            errors.add("product", Message::unknown_record(&reference.sent));
        }
    }
    match (product, input.quantity) {
        (Some(product), Some(quantity)) if errors.is_empty() => Ok(Found {
            supplier,
            product,
            quantity,
            description: input.description.clone(),
        }),
        _ => Err(errors.in_order(movement.fields()).into()),
    }
}

fn refused(impossible: Impossible) -> Refusal {
    match impossible {
        Impossible::Insufficient(available) => {
            FieldErrors::of("quantity", insufficient(available)).into()
        }
        Impossible::TooMany(i64::MAX) => FieldErrors::of(
            "quantity",
            Message::fixed(
                "O estoque deste produto não comporta mais unidades.",
                "No more units of this product fit into the stock.",
            ),
        )
        .into(),
        Impossible::TooMany(current) => {
            FieldErrors::of("quantity", Message::at_most(i64::MAX - current)).into()
        }
        Impossible::NoProduct => Refusal::NotFound,
    }
}

/// People are not told a number to stay below where nothing is left.
fn insufficient(available: i64) -> Message {
    match available {
        0 => Message::fixed(
            "Sem estoque: nenhuma unidade disponível.",
            "Out of stock: no unit is available.",
        )
        .in_api("Insufficient stock: 0 available."),
        1 => Message::fixed(
            "Estoque insuficiente: só 1 unidade disponível.",
            "Insufficient stock: 1 available.",
        ),
        _ => Message::new(
            format!(
                "Estoque insuficiente: só {} unidades disponíveis.",
                Locale::PtBr.number(available)
            ),
            format!("Insufficient stock: {available} available."),
        ),
    }
}

/// What people call a movement: `12 × Arroz`.
pub(crate) fn movement_text(quantity: i64, title: &str) -> String {
    format!("{quantity} × {title}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_that_is_out_of_stock_is_said_to_be() {
        for (available, portuguese, english, api) in [
            (
                0,
                "Sem estoque: nenhuma unidade disponível.",
                "Out of stock: no unit is available.",
                "Insufficient stock: 0 available.",
            ),
            (
                1200,
                "Estoque insuficiente: só 1.200 unidades disponíveis.",
                "Insufficient stock: 1200 available.",
                "Insufficient stock: 1200 available.",
            ),
        ] {
            let message = insufficient(available);
            let said = [Locale::PtBr, Locale::En].map(|locale| message.text(locale));
            assert_eq!(said, [portuguese, english]);
            assert_eq!(message.to_string(), api);
        }
    }
}
