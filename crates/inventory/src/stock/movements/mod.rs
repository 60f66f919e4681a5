//! Inflows and outflows: immutable records of movements of goods. Creating one changes the
//! product's quantity, deleting one reverses the change, each in one transaction with the ledger
//! row and the events.

mod batched;
pub(super) mod model;
mod removal;
pub(super) mod store;
pub(crate) mod words;

pub(crate) use model::{INFLOWS, MovementEntry};
pub use model::{MovementInput, MovementRecord};
pub(crate) use removal::{check_deletion, check_reversal};

use db::{Conn, Timestamp};
use http::Method;
use resource::{Field, Record as _, Reference, Refers};
use web::locale::Locale;

use super::{QuantityError, archive, events, ledger, model::NewEntry, quantity_after};
pub use crate::movement::Movement;
use crate::{
    State,
    access::Model,
    api::{
        openapi::Description,
        resource::{ApiResource, IMMUTABLE, Resource},
    },
    listing::{Matches, PageRange, TextQuery},
    rest::{
        Message, Refusal,
        fields::{Draft, FieldErrors},
        page::{Page, PageRequest},
        query::Parameters,
    },
    work::{Author, Origin, Work},
};
use store::{DAYS, MovementList, NEWEST_FIRST};
pub(crate) use store::{find, list_of};

/// Of the selected movements, a page of the newest that a text search finds, in the order of the
/// list.
pub(crate) async fn search(
    state: &State,
    movement: Movement,
    parameters: &Parameters,
    query: TextQuery,
    part: PageRange,
) -> Result<Matches<MovementRecord>, Refusal> {
    let selection = MovementList::parse(movement, parameters)?;
    let read = async move |conn: &mut Conn| selection.search(conn, &query, part).await;
    Ok(state.db.read(read).await?)
}

/// Calls `take` with every movement that a list selects, in order.
pub(crate) async fn each(
    conn: &mut Conn,
    movement: Movement,
    parameters: &Parameters,
    take: impl FnMut(&MovementRecord) -> Result<(), db::Error>,
) -> Result<(), Refusal> {
    let selection = MovementList::parse(movement, parameters)?;
    let stats = selection.stats(conn).await?;
    Ok(selection.selection.each(conn, &stats, take).await?)
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

    async fn read(self, state: &State, id: i64) -> Result<Option<MovementRecord>, Refusal> {
        Ok(state.db.find_by_key(store::by_id(self), id).await?)
    }
}

impl ApiResource for Movement {
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
        let selection = MovementList::parse(self, parameters)?;
        let request = PageRequest::parse(state, parameters)?;
        let read = async move |conn: &mut Conn| selection.list(conn, request).await;
        state.db.read(read).await
    }

    fn is_repeatable(self) -> bool {
        true
    }

    /// Changes the product's quantity. If an imported movement is older than the product's opening,
    /// which then includes it, the quantity stays.
    async fn create(
        self,
        work: &mut Work<'_>,
        draft: &Draft<MovementRecord>,
    ) -> Result<MovementRecord, Refusal> {
        let mut record = check(work.tx, draft, work.now).await?;
        let (product, change) = (record.product.id, self.change(record.quantity));
        let mut entry = NewEntry {
            supplier: record.supplier.as_ref().map(|supplier| supplier.id),
            moved_at: draft.input.created_at,
            is_past: is_history(work.tx, draft).await?,
            is_imported: work.origin != Origin::Request,
            ..NewEntry::new(product, self.kinds().0, change)
        };
        // Locks the stock row, so the time is final, and the title, which inflows have a copy of.
        let changed = ledger::change(work, &entry)
            .await?
            .map_err(|error| refused(product, error))?;
        record.created_at = entry.moved_at(work);
        record.updated_at = record.created_at;
        record.id = store::insert(work.tx, self, &record).await?;
        entry.reference = Some(record.id);
        let stock = ledger::record(work, &entry, changed).await?;
        if entry.is_past {
            return Ok(record);
        }
        match self {
            Self::Outflow => events::after_outflow(work, &record, stock).await?,
            Self::Inflow => {
                events::after_other(work, product, stock.before(change), stock).await?;
            }
        }
        Ok(record)
    }

    async fn create_batched(
        self,
        state: &State,
        author: &Author,
        draft: &Draft<MovementRecord>,
    ) -> Result<Option<MovementRecord>, Refusal> {
        batched::create(state, author, self, draft).await
    }

    /// Reverses the change of the quantity. The ledger keeps both rows.
    async fn delete(self, work: &mut Work<'_>, id: i64) -> Result<bool, Refusal> {
        removal::delete(work, self, id).await
    }
}

/// Checks a row of an import before anything is written. Returns the product and its quantity
/// afterwards, if it changes. `known` returns a product's quantity after earlier rows.
pub(crate) async fn check_import(
    conn: &mut Conn,
    movement: Movement,
    draft: &Draft<MovementRecord>,
    known: impl Fn(i64) -> Option<i64>,
) -> Result<Option<(i64, i64)>, Refusal> {
    // Nothing is written, so the time does not matter.
    let record = check(conn, draft, Timestamp::from_micros(0)).await?;
    let product = record.product.id;
    let before = match known(product) {
        Some(quantity) => quantity,
        None => super::store::quantity(conn, product)
            .await?
            .ok_or(Refusal::NotFound)?,
    };
    if is_history(conn, draft).await? {
        quantity_after(before, record.quantity).map_err(|error| refused(product, error))?;
        return Ok(None);
    }
    if archive::is_archived(conn, product).await? {
        return Err(refused(product, QuantityError::Archived));
    }
    let after = quantity_after(before, movement.change(record.quantity))
        .map_err(|error| refused(product, error))?;
    Ok(Some((product, after)))
}

/// Whether an imported movement is older than its product's opening, which includes it already.
async fn is_history(conn: &mut Conn, draft: &Draft<MovementRecord>) -> Result<bool, db::Error> {
    match (draft.input.created_at, &draft.input.product) {
        (Some(at), Some(product)) => super::store::is_included(conn, product.id, at).await,
        _ => Ok(false),
    }
}

/// The ledger entry of a movement, if there is one.
pub(crate) async fn booking(
    state: &State,
    movement: Movement,
    id: i64,
) -> Result<Option<MovementEntry>, Refusal> {
    let read = async move |conn: &mut Conn| store::booking(conn, movement, id).await;
    Ok(state.db.read(read).await?)
}

pub(crate) async fn latest(
    conn: &mut Conn,
    movement: Movement,
    limit: i64,
) -> Result<Vec<MovementRecord>, db::Error> {
    // Read from an index, so the duration does not depend on the number of movements.
    let newest = MovementList::newest(movement);
    newest.selection.first(conn, limit).await
}

pub(crate) async fn count(conn: &mut Conn, movement: Movement) -> Result<u64, db::Error> {
    Ok(MovementList::newest(movement).stats(conn).await?.count)
}

/// Builds the record from a draft. Fails with all errors, including those from the database.
async fn check(
    conn: &mut Conn,
    draft: &Draft<MovementRecord>,
    now: Timestamp,
) -> Result<MovementRecord, Refusal> {
    let (input, mut errors) = (&draft.input, draft.errors.clone());
    let (supplier, product) = (input.supplier.as_ref(), input.product.as_ref());
    let supplier = resolve(conn, MovementRecord::supplier, supplier, &mut errors).await?;
    let product = resolve(conn, MovementRecord::product, product, &mut errors).await?;
    let created_at = input.created_at.unwrap_or(now);
    match (product, input.quantity) {
        (Some(product), Some(quantity)) if errors.is_empty() => Ok(MovementRecord {
            id: input.id.unwrap_or_default(),
            supplier,
            product,
            quantity,
            description: input.description.clone().flatten(),
            created_at,
            updated_at: created_at,
        }),
        _ => Err(errors.in_order(MovementRecord::FIELDS).into()),
    }
}

/// The record that a field refers to. Adds an error to the field if there is none.
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

fn refused(product: i64, error: QuantityError) -> Refusal {
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
        // Deleted since the request was checked.
        QuantityError::NoProduct => {
            FieldErrors::of("product", Message::unknown_record(&product.to_string())).into()
        }
        QuantityError::Archived => FieldErrors::of("product", archive::ARCHIVED).into(),
    }
}

/// If nothing is left, the text says so instead of naming a limit of 0.
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
            let texts = [Locale::PtBr, Locale::En].map(|locale| message.text(locale));
            assert_eq!(texts, [portuguese, english]);
            assert_eq!(message.to_string(), api);
        }
    }
}
