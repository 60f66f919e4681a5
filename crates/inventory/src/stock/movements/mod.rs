//! Inflows and outflows: immutable records of goods that moved. Creating one changes the product's quantity, deleting one reverses it,
//! each in one transaction with its ledger row and its events.

mod at_once;
mod model;
mod removal;
pub(super) mod store;
mod trace;
pub(crate) mod words;

pub(crate) use model::{INFLOWS, MovementEntry};
pub use model::{MovementInput, MovementRecord};
pub(crate) use removal::{check_deletion, check_reversal, revert};

use db::{Conn, Timestamp};
use http::Method;
use resource::{Field, Record as _, Reference, Refers};
use web::locale::Locale;

use super::{QuantityError, archive, events, ledger};
pub use crate::movement::Movement;
use crate::{
    State,
    access::Model,
    api::{
        openapi::Description,
        resource::{IMMUTABLE, Resource},
    },
    listing::{Matches, PageRange, TextQuery},
    rest::{
        Message, Refusal,
        fields::{Draft, FieldErrors, Members},
        page::{Page, PageRequest},
        query::Parameters,
    },
    work::{Author, Work},
};
use ledger::NewEntry;
use store::{DAYS, MovementList, NEWEST_FIRST};
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
    let selection = MovementList::parse(movement, parameters)?;
    let wanted = PageRequest::parse(state, parameters)?;
    let read = async move |conn: &mut Conn| selection.list(conn, wanted).await;
    state.db.read(read).await
}

/// Of the movements that the query string selects, a part of the newest that a search finds, in
/// their order.
pub(crate) async fn search(
    state: &State,
    movement: Movement,
    parameters: &Parameters,
    sought: TextQuery,
    part: PageRange,
) -> Result<Matches<MovementRecord>, Refusal> {
    let selection = MovementList::parse(movement, parameters)?;
    let read = async move |conn: &mut Conn| selection.search(conn, &sought, part).await;
    Ok(state.db.read(read).await?)
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
    let selection = MovementList::parse(movement, parameters)?;
    let measured = selection.stats(conn).await?;
    Ok(selection.selection.each(conn, &measured, take).await?)
}

/// What is wrong with the fields of a form, as far as it can be told without the store.
pub(crate) fn problems(movement: Movement, members: &Members) -> FieldErrors {
    movement.draft(members).errors
}

/// One movement.
pub async fn read(
    state: &State,
    movement: Movement,
    id: i64,
) -> Result<Option<MovementRecord>, Refusal> {
    Ok(state.db.find_by_key(store::by_id(movement), id).await?)
}

impl Resource for Movement {
    type Record = MovementRecord;

    fn path(self) -> &'static str {
        Self::path(self)
    }

    fn model(self) -> Model {
        Self::model(self)
    }

    fn methods(self) -> &'static [Method] {
        IMMUTABLE
    }

    fn fields(self) -> &'static [&'static Field] {
        Self::fields(self)
    }

    fn description(self) -> Description {
        let deletion = match self {
            Self::Inflow => {
                " Lowers the product's quantity again; refused when the goods have left already. \
                 The ledger keeps both rows."
            }
            Self::Outflow => " Raises the product's quantity again. The ledger keeps both rows.",
        };
        Description {
            words: self.words(),
            bodies: self.words().name(Locale::En),
            filters: DAYS,
            order: NEWEST_FIRST,
            deletion,
            example: self.example(),
        }
    }

    async fn list(
        self,
        state: &State,
        parameters: &Parameters,
    ) -> Result<Page<MovementRecord>, Refusal> {
        list(state, self, parameters).await
    }

    async fn read(self, state: &State, id: i64) -> Result<Option<MovementRecord>, Refusal> {
        read(state, self, id).await
    }

    fn is_repeatable(self) -> bool {
        true
    }

    /// Changes its product's quantity. An import may bring one that is older than its product's opening: that is history, which the opening
    /// quantity counts already. It is recorded, and the quantity stays as it is.
    async fn create(
        self,
        work: &mut Work<'_>,
        draft: &Draft<MovementRecord>,
    ) -> Result<MovementRecord, Refusal> {
        let mut record = check(work.tx, draft, work.now).await?;
        let is_history = is_history(work.tx, draft).await?;
        // An inflow has its product's title beside it: whoever changes that locks the stock row.
        if self == Self::Inflow {
            super::store::lock_quantity(work.tx, record.product.id).await?;
        }
        record.id = store::insert(work.tx, self, &record).await?;
        let entry = NewEntry {
            product: record.product.id,
            kind: self.kinds().0,
            change: self.change(record.quantity),
            reference: Some(record.id),
            supplier: record.supplier.as_ref().map(|supplier| supplier.id),
            explanation: None,
            booked_at: record.created_at,
            now: record.created_at,
        };
        if is_history {
            ledger::record_past(work, &entry).await?.map_err(refused)?;
            return Ok(record);
        }
        let change = ledger::apply(work, &entry).await?.map_err(refused)?;
        match self {
            Self::Outflow => events::after_outflow(work, &record, change).await?,
            Self::Inflow => events::after_other(work, record.product.id, change).await?,
        }
        Ok(record)
    }

    async fn create_batched(
        self,
        state: &State,
        author: &Author,
        draft: &Draft<MovementRecord>,
    ) -> Result<Option<MovementRecord>, Refusal> {
        at_once::create(state, author, self, draft).await
    }

    /// Reverses its effect. Its row in the ledger stays, and a second one says that it was reversed.
    async fn delete(self, work: &mut Work<'_>, id: i64) -> Result<bool, Refusal> {
        removal::delete(work, self, id, false).await
    }
}

/// Refuses a row of an import that could not become a movement, before anything is written; else the product whose quantity it would
/// change, and that quantity. `known` are quantities after earlier rows.
pub(crate) async fn check_import(
    conn: &mut Conn,
    movement: Movement,
    draft: &Draft<MovementRecord>,
    known: impl Fn(i64) -> Option<i64>,
) -> Result<Option<(i64, i64)>, Refusal> {
    // Nothing is written, so it needs no time.
    let record = check(conn, draft, Timestamp::from_micros(0)).await?;
    let product = record.product.id;
    let before = match known(product) {
        Some(quantity) => Some(quantity),
        None => super::store::quantity(conn, product).await?,
    };
    let before = before.ok_or(Refusal::NotFound)?;
    let too_many = || refused(QuantityError::TooMany(before));
    if is_history(conn, draft).await? {
        let most = before.checked_add(record.quantity);
        return most.map(|_| None).ok_or_else(too_many);
    }
    if archive::is_archived(conn, product).await? {
        return Err(refused(QuantityError::Archived));
    }
    match before.checked_add(movement.change(record.quantity)) {
        Some(after) if after >= 0 => Ok(Some((product, after))),
        Some(_) => Err(refused(QuantityError::Insufficient(before))),
        None => Err(too_many()),
    }
}

/// Whether a movement is older than its product's opening, which counts it already.
async fn is_history(conn: &mut Conn, draft: &Draft<MovementRecord>) -> Result<bool, db::Error> {
    let (input, at) = (&draft.input, draft.input.created_at.get().copied());
    let (Some(at), Some(product)) = (at, input.product.get()) else {
        return Ok(false);
    };
    let opened_at = super::opened_at(conn, product.id).await?;
    Ok(opened_at.is_some_and(|opened_at| at <= opened_at))
}

/// The movements that were booked last, the newest first.
pub(crate) async fn latest(
    conn: &mut Conn,
    movement: Movement,
    limit: i64,
) -> Result<Vec<MovementRecord>, db::Error> {
    // However many there are: the newest come in order from an index.
    let newest = MovementList::newest(movement);
    newest.selection.first(conn, limit).await
}

/// How many movements there are.
pub(crate) async fn count(conn: &mut Conn, movement: Movement) -> Result<u64, Refusal> {
    let selection = MovementList::parse(movement, &Parameters::parse(""))?;
    Ok(selection.stats(conn).await?.count)
}

/// The record of what was read, before it is stored. Adds what only the store knows to the errors of the fields, and refuses when there is
/// any.
async fn check(
    conn: &mut Conn,
    draft: &Draft<MovementRecord>,
    now: Timestamp,
) -> Result<MovementRecord, Refusal> {
    let (input, mut errors) = (&draft.input, draft.errors.clone());
    let (supplier, product) = (input.supplier.get(), input.product.get());
    let supplier = resolve(conn, MovementRecord::supplier, supplier, &mut errors).await?;
    let product = resolve(conn, MovementRecord::product, product, &mut errors).await?;
    let created_at = input.created_at.get().copied().unwrap_or(now);
    match (product, input.quantity.get()) {
        (Some(product), Some(quantity)) if errors.is_empty() => Ok(MovementRecord {
            id: input.id.get().copied().unwrap_or_default(),
            supplier,
            product,
            quantity: *quantity,
            description: input.description.clone().into_new(),
            created_at,
            updated_at: created_at,
        }),
        _ => Err(errors.in_order(MovementRecord::NAMES).into()),
    }
}

/// The record that a field refers to; one that there is not is an error of the field.
async fn resolve<T: Refers>(
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

fn refused(error: QuantityError) -> Refusal {
    match error {
        QuantityError::Insufficient(available) => {
            FieldErrors::of("quantity", insufficient(available)).into()
        }
        QuantityError::TooMany(i64::MAX) => FieldErrors::of(
            "quantity",
            Message::fixed(
                "O estoque deste produto não comporta mais unidades.",
                "The stock of this product cannot hold more units.",
            ),
        )
        .into(),
        QuantityError::TooMany(current) => {
            FieldErrors::of("quantity", Message::at_most(i64::MAX - current)).into()
        }
        QuantityError::NoProduct => Refusal::NotFound,
        QuantityError::Archived => FieldErrors::of("product", archive::ARCHIVED).into(),
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
