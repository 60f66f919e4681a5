//! Inflows and outflows: immutable records of goods that moved. Creating one changes the product's quantity, deleting one reverses it,
//! each in one transaction with its ledger row and its events.

mod api;
mod at_once;
mod model;
pub(crate) mod pages;
mod removal;
pub(crate) mod search;
pub(super) mod store;
mod trace;
mod words;

pub(crate) use model::{INFLOW_WORDS, MovementEntry, OUTFLOW_WORDS};
pub use model::{Movement, MovementInput, MovementRecord};
pub use removal::delete;
pub(crate) use removal::{examine_removal, foresee, remove, revert};

use db::{Conn, Timestamp, Tx};
use resource::{Field, Record as _, Reference, Refers};
use serde_json::value::RawValue;
use web::locale::Locale;

use super::{Impossible, Work, archive, events, ledger};
use crate::{
    State,
    access::Actor,
    idempotency::once,
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members, Mode, read_some},
        given::Given,
        query::Parameters,
        resource::{Created, Page, Submission, Wanted},
    },
};
use ledger::Entry;
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

/// The fields of a body, and what is wrong with them.
fn read_fields(movement: Movement, members: &Members) -> (MovementInput, FieldErrors) {
    read_some::<MovementRecord>(movement.fields(), members, Mode::Whole)
}

/// What is wrong with the fields of a form, as far as it can be told without the store.
pub(crate) fn problems(movement: Movement, members: &Members) -> FieldErrors {
    read_fields(movement, members).1
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
    let (input, errors) = read_fields(movement, &submission.members);
    let work = Work::of(state, &submission.caller);
    let repeatable = submission.repeatable(movement.path());
    if repeatable.is_none()
        && errors.is_empty()
        && let Some(record) = at_once::outflow(state, movement, &input, &work).await?
    {
        state.changes.notify();
        return Ok(Created::New(record));
    }
    let write = async move |tx: &mut Tx| {
        let record = check(tx, &input, errors.clone(), work.now).await?;
        let record = book(tx, movement, record, &work).await?;
        Ok((record.clone(), Created::New(record)))
    };
    let again =
        async |_: &mut Tx, body: Box<RawValue>| Ok(Created::Replayed(body.get().to_owned()));
    let booked: Result<_, Refusal> = once(state, repeatable, write, again).await;
    let booked = booked?;
    if matches!(booked, Created::New(_)) {
        state.changes.notify();
    }
    Ok(booked)
}

/// Books a movement within a transaction, as [`create`] does.
pub(crate) async fn add(
    tx: &mut Tx,
    movement: Movement,
    members: &Members,
    work: &Work,
) -> Result<MovementRecord, Refusal> {
    let (input, errors) = read_fields(movement, members);
    let record = check(tx, &input, errors, work.now).await?;
    book(tx, movement, record, work).await
}

/// Adds a movement that an import brings, within a transaction. One that is older than its product's opening is history, which the
/// opening quantity counts already: it is recorded, and the quantity stays as it is. Any other changes it, as in the API.
pub(crate) async fn import(
    tx: &mut Tx,
    movement: Movement,
    members: &Members,
    given: &Given,
    work: &Work,
) -> Result<i64, Refusal> {
    let (input, errors) = read_fields(movement, members);
    let at = given.created_at.unwrap_or(work.now);
    let mut record = check(tx, &input, errors, at).await?;
    record.id = given.id.unwrap_or_default();
    let opened_at = super::opened_at(tx, record.product.id).await?;
    if !is_history(given, opened_at) {
        let record = book(tx, movement, record, work).await?;
        return Ok(record.id);
    }
    record.id = insert(tx, movement, &record).await?;
    let entry = entry(movement, &record, &work.actor);
    let recorded = ledger::record_past(tx, &entry).await?;
    recorded.map_err(refused)?;
    Ok(record.id)
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
    let (input, errors) = read_fields(movement, members);
    // Nothing is written, so it has no time.
    let record = check(conn, &input, errors, Timestamp::from_micros(0)).await?;
    let product = record.product.id;
    let before = match known(product) {
        Some(quantity) => Some(quantity),
        None => super::store::quantity(conn, product).await?,
    };
    let before = before.ok_or(Refusal::NotFound)?;
    let too_many = || refused(Impossible::TooMany(before));
    let opened_at = super::opened_at(conn, product).await?;
    if is_history(given, opened_at) {
        let most = before.checked_add(record.quantity);
        return most.map(|_| None).ok_or_else(too_many);
    }
    if archive::is_archived(conn, product).await? {
        return Err(refused(Impossible::Archived));
    }
    match before.checked_add(movement.change(record.quantity)) {
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

fn entry<'a>(movement: Movement, record: &MovementRecord, actor: &'a Actor) -> Entry<'a> {
    Entry {
        product: record.product.id,
        kind: movement.kinds().0,
        change: movement.change(record.quantity),
        reference: Some(record.id),
        supplier: record.supplier.as_ref().map(|supplier| supplier.id),
        explanation: None,
        booked_at: record.created_at,
        actor,
        now: record.created_at,
    }
}

/// Books one movement within a transaction.
async fn book(
    tx: &mut Tx,
    movement: Movement,
    mut record: MovementRecord,
    work: &Work,
) -> Result<MovementRecord, Refusal> {
    record.id = insert(tx, movement, &record).await?;
    let entry = entry(movement, &record, &work.actor);
    let changed = ledger::apply(tx, &entry).await?.map_err(refused)?;
    match movement {
        Movement::Outflow => events::after_outflow(tx, &record, changed, work).await?,
        Movement::Inflow => {
            events::after_other(tx, record.product.id, changed, work).await?;
        }
    }
    Ok(record)
}

/// Stores a movement. An inflow has its product's title beside it: whoever changes that holds the stock row, so it is locked first.
async fn insert(tx: &mut Tx, movement: Movement, record: &MovementRecord) -> Result<i64, Refusal> {
    if movement == Movement::Inflow {
        super::store::lock_quantity(tx, record.product.id).await?;
    }
    Ok(store::insert(tx, movement, record).await?)
}

/// The record of what was read, before it is stored. Adds what only the store knows to the errors of the fields, and refuses when there is
/// any.
async fn check(
    conn: &mut Conn,
    input: &MovementInput,
    mut errors: FieldErrors,
    at: Timestamp,
) -> Result<MovementRecord, Refusal> {
    let (supplier, product) = (input.supplier.get(), input.product.get());
    let supplier = referred(conn, MovementRecord::supplier, supplier, &mut errors).await?;
    let product = referred(conn, MovementRecord::product, product, &mut errors).await?;
    match (product, input.quantity.get()) {
        (Some(product), Some(quantity)) if errors.is_empty() => Ok(MovementRecord {
            id: 0,
            supplier,
            product,
            quantity: *quantity,
            description: input.description.clone().into_new(),
            created_at: at,
            updated_at: at,
        }),
        _ => Err(errors.in_order(MovementRecord::NAMES).into()),
    }
}

/// The record that a field refers to; one that there is not is an error of the field.
async fn referred<T: Refers>(
    conn: &mut Conn,
    field: &'static Field,
    reference: Option<&Reference>,
    errors: &mut FieldErrors,
) -> Result<Option<T>, db::Error> {
    let Some(reference) = reference else {
        return Ok(None);
    };
    let found = store::referred(conn, field, reference.id).await?;
    if found.is_none() {
        errors.add(field.name, Message::unknown_record(&reference.sent));
    }
    Ok(found)
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
                "The stock of this product cannot hold more units.",
            ),
        )
        .into(),
        Impossible::TooMany(current) => {
            FieldErrors::of("quantity", Message::at_most(i64::MAX - current)).into()
        }
        Impossible::NoProduct => Refusal::NotFound,
        Impossible::Archived => FieldErrors::of("product", archive::ARCHIVED).into(),
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
