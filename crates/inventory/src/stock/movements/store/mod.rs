//! SQL for single inflows and outflows. Lists and searches are in `list`. Changes of quantities are
//! in `stock::store`.

pub(super) mod batched;
mod list;

use std::sync::LazyLock;

use db::{BatchLoader, Conn, Error, Query, Timestamp, Tx};
use resource::{Field, Named, Record as _, Refers, Titled, sql};

pub(crate) use list::list_of;
pub(super) use list::{DAYS, MovementList, NEWEST_FIRST};

use super::model::{MovementEntry, MovementRecord};
use crate::movement::{Movement, entry_of_movement};

static INFLOW_BY_ID: LazyLock<BatchLoader<MovementRecord>> =
    LazyLock::new(|| list_of(Movement::Inflow).loader());
static OUTFLOW_BY_ID: LazyLock<BatchLoader<MovementRecord>> =
    LazyLock::new(|| list_of(Movement::Outflow).loader());

/// The record that a field refers to, by its id.
pub(super) async fn referred<T: Refers>(
    conn: &mut Conn,
    field: &Field,
    id: i64,
) -> Result<Option<T>, Error> {
    let Some(query) = sql::referred(field, id) else {
        return Ok(None);
    };
    conn.optional_of(&query, |row| T::from_row(row, &mut 0))
        .await
}

/// A supplier by id, with the fields that inflows show.
pub(in crate::stock) async fn supplier(conn: &mut Conn, id: i64) -> Result<Option<Named>, Error> {
    referred(conn, MovementRecord::supplier, id).await
}

/// A product by id, with the fields that movements show.
pub(in crate::stock) async fn product(conn: &mut Conn, id: i64) -> Result<Option<Titled>, Error> {
    referred(conn, MovementRecord::product, id).await
}

/// Inserts a movement, with its id or, if that is 0, the next one. An inflow gets a copy of its
/// product's title, which cannot change: the caller has locked the stock row.
pub(super) async fn insert(
    tx: &mut Tx,
    movement: Movement,
    record: &MovementRecord,
) -> Result<i64, Error> {
    let mut values = record.values();
    values.retain(|(field, _)| *field != MovementRecord::id || record.id != 0);
    let title = |query: &mut Query| {
        query
            .push("COALESCE((SELECT p.title_folded FROM products AS p WHERE p.id = ")
            .bind(record.product.id)
            .push("), '')");
    };
    let table = movement.path();
    tx.insert_one(match movement {
        Movement::Inflow => sql::insert_with(table, values, "title_folded", title),
        Movement::Outflow => sql::insert(table, values),
    })
    .await
}

/// The ledger entry of a movement.
pub(super) async fn booking(
    conn: &mut Conn,
    movement: Movement,
    id: i64,
) -> Result<Option<MovementEntry>, Error> {
    conn.optional(
        concat!(
            "SELECT user_name, balance_after, cost_price, selling_price FROM ledger_entries WHERE id = ",
            entry_of_movement!("$1", "$2")
        ),
        &[&movement.name(), &id],
        |row| {
            Ok(MovementEntry {
                user: row.get(0)?,
                balance_after: row.get(1)?,
                price: match movement {
                    Movement::Inflow => row.get(2)?,
                    Movement::Outflow => row.get(3)?,
                },
            })
        },
    )
    .await
}

pub(super) fn by_id(movement: Movement) -> &'static BatchLoader<MovementRecord> {
    match movement {
        Movement::Inflow => &INFLOW_BY_ID,
        Movement::Outflow => &OUTFLOW_BY_ID,
    }
}

pub(crate) async fn find(
    conn: &mut Conn,
    movement: Movement,
    id: i64,
) -> Result<Option<MovementRecord>, Error> {
    conn.find_by_key(by_id(movement), id).await
}

/// The data of a deleted movement that the reversal needs.
pub(super) struct Deleted {
    pub(super) product: i64,
    pub(super) quantity: i64,
    pub(super) created_at: Timestamp,
    /// The supplier of an inflow.
    pub(super) supplier: Option<i64>,
}

/// Deletes a movement. Returns `None` if there was none.
pub(super) async fn delete(
    tx: &mut Tx,
    movement: Movement,
    id: i64,
) -> Result<Option<Deleted>, Error> {
    let mut query = sql::delete(movement.path(), id);
    query.push(match movement {
        Movement::Inflow => " RETURNING product_id, quantity, created_at, supplier_id",
        Movement::Outflow => " RETURNING product_id, quantity, created_at",
    });
    tx.optional_of(&query, |row| {
        Ok(Deleted {
            product: row.get(0)?,
            quantity: row.get(1)?,
            created_at: row.get(2)?,
            supplier: match movement {
                Movement::Inflow => Some(row.get(3)?),
                Movement::Outflow => None,
            },
        })
    })
    .await
}
