//! Statements about inflows and outflows: one record at a time here, lists in `list`, searches in `search`.
//! What a movement does to a quantity is in `stock::store`.

pub(super) mod at_once;
mod list;
pub(super) mod search;

use db::{ByKey, Conn, Error, Query, Row, Timestamp, Tx, by_key};
use resource::sql::long_text_key;

pub(super) use list::{DAYS, Measured, NEWEST_FIRST, Selection};

use super::model::{Movement, MovementEntry, MovementRecord};
use crate::{
    rest::{
        json::{Named, Titled},
        resource::Repeatable,
    },
    stock::span_of,
};

/// Inflows, as [`record_of`] reads them, that are narrowed and ordered by what is given.
macro_rules! inflows {
    ($rest:literal) => {
        concat!(
            "SELECT m.id, m.product_id, p.title, m.quantity, m.description, m.created_at, m.supplier_id, s.name
             FROM inflows AS m JOIN products AS p ON p.id = m.product_id JOIN suppliers AS s ON s.id = m.supplier_id ",
            $rest
        )
    };
}

/// Outflows, likewise.
macro_rules! outflows {
    ($rest:literal) => {
        concat!(
            "SELECT m.id, m.product_id, p.title, m.quantity, m.description, m.created_at
             FROM outflows AS m JOIN products AS p ON p.id = m.product_id ",
            $rest
        )
    };
}

/// A supplier by id, as inflows show it.
pub(in crate::stock) async fn supplier(conn: &mut Conn, id: i64) -> Result<Option<Named>, Error> {
    let named = |row: &Row<'_>| {
        Ok(Named {
            id: row.get(0)?,
            name: row.get(1)?,
        })
    };
    conn.optional(
        "SELECT id, name FROM suppliers WHERE id = $1",
        &[&id],
        named,
    )
    .await
}

/// A product by id, as movements show it.
pub(in crate::stock) async fn product(conn: &mut Conn, id: i64) -> Result<Option<Titled>, Error> {
    let titled = |row: &Row<'_>| {
        Ok(Titled {
            id: row.get(0)?,
            title: row.get(1)?,
        })
    };
    conn.optional(
        "SELECT id, title FROM products WHERE id = $1",
        &[&id],
        titled,
    )
    .await
}

/// Stores a movement, under the id that is given or the next one; what it does to the product's quantity is the ledger's to write.
/// An inflow gets its product's title: the product's stock row is locked, and with it the title.
pub(super) async fn insert(
    tx: &mut Tx,
    movement: Movement,
    id: Option<i64>,
    record: &MovementRecord,
) -> Result<i64, Error> {
    let mut query = Query::new(match movement {
        Movement::Inflow => "INSERT INTO inflows (",
        Movement::Outflow => "INSERT INTO outflows (",
    });
    query.push(if record.supplier.is_some() {
        "supplier_id, "
    } else {
        ""
    });
    query.push(if id.is_some() { "id, " } else { "" });
    query.push(match movement {
        Movement::Inflow => {
            "title_folded, product_id, quantity, description, description_key, created_at) VALUES ("
        }
        Movement::Outflow => {
            "product_id, quantity, description, description_key, created_at) VALUES ("
        }
    });
    if let Some(supplier) = &record.supplier {
        query.bind(supplier.id).push(", ");
    }
    if let Some(id) = id {
        query.bind(id).push(", ");
    }
    if movement == Movement::Inflow {
        query
            .push("COALESCE((SELECT p.title_folded FROM products AS p WHERE p.id = ")
            .bind(record.product.id)
            .push("), ''), ");
    }
    let key = record.description.as_deref().map(long_text_key);
    query
        .bind(record.product.id)
        .push(", ")
        .bind(record.quantity)
        .push(", ")
        .bind(record.description.clone())
        .push(", ")
        .bind(key)
        .push(", ")
        .bind(record.created_at)
        .push(")");
    tx.insert_one(query).await
}

/// The next movements behind an id, in the order of ids.
pub(crate) async fn after(
    conn: &mut Conn,
    movement: Movement,
    id: i64,
    limit: i64,
) -> Result<Vec<MovementRecord>, Error> {
    let sql = match movement {
        Movement::Inflow => inflows!("WHERE m.id > $1 ORDER BY m.id LIMIT $2"),
        Movement::Outflow => outflows!("WHERE m.id > $1 ORDER BY m.id LIMIT $2"),
    };
    conn.all(sql, &[&id, &limit], |row| record_of(movement, row))
        .await
}

/// The ledger's entry of a movement.
pub(super) async fn booking(
    conn: &mut Conn,
    product: i64,
    at: Timestamp,
    (movement, id): (Movement, i64),
) -> Result<Option<MovementEntry>, Error> {
    conn.optional(
        "SELECT user_name, balance_after, cost_price, selling_price FROM ledger_entries
         WHERE product_id = $1 AND created_at = $2 AND kind = $3 AND reference_id = $4 ORDER BY id LIMIT 1",
        &[&product, &at, &movement.name(), &id],
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

/// The moments of the first and the last movement.
pub(super) async fn span(
    conn: &mut Conn,
    movement: Movement,
) -> Result<Option<(Timestamp, Timestamp)>, Error> {
    let sql = match movement {
        Movement::Inflow => "SELECT min(created_at), max(created_at) FROM inflows",
        Movement::Outflow => "SELECT min(created_at), max(created_at) FROM outflows",
    };
    conn.one(sql, &[], span_of).await
}

static INFLOW: ByKey<MovementRecord> =
    by_key!(|row| record_of(Movement::Inflow, row); inflows!("WHERE m.id"));
static OUTFLOW: ByKey<MovementRecord> =
    by_key!(|row| record_of(Movement::Outflow, row); outflows!("WHERE m.id"));

pub(crate) async fn find(
    conn: &mut Conn,
    movement: Movement,
    id: i64,
) -> Result<Option<MovementRecord>, Error> {
    let record = match movement {
        Movement::Inflow => &INFLOW,
        Movement::Outflow => &OUTFLOW,
    };
    conn.by_key(record, id).await
}

/// What is left to know of a movement that is gone.
pub(super) struct Deleted {
    pub(super) product: i64,
    pub(super) quantity: i64,
    pub(super) created_at: Timestamp,
    /// Of inflows.
    pub(super) supplier: Option<i64>,
}

/// Deletes a movement, when it was there.
pub(super) async fn delete(
    tx: &mut Tx,
    movement: Movement,
    id: i64,
) -> Result<Option<Deleted>, Error> {
    let sql = match movement {
        Movement::Inflow => {
            "DELETE FROM inflows WHERE id = $1 RETURNING product_id, quantity, created_at, supplier_id"
        }
        Movement::Outflow => {
            "DELETE FROM outflows WHERE id = $1 RETURNING product_id, quantity, created_at"
        }
    };
    tx.optional(sql, &[&id], |row| {
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

/// The fingerprint and the answer of a key used since `since`.
pub(super) async fn find_key(
    conn: &mut Conn,
    repeatable: &Repeatable,
    since: Timestamp,
) -> Result<Option<(String, String)>, Error> {
    conn.optional(
        "SELECT fingerprint, body FROM idempotency_keys WHERE user_id = $1 AND path = $2 AND key = $3 AND created_at > $4",
        &[&repeatable.user, &repeatable.path, &repeatable.key, &since],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}

/// Forgets a key that was last used at or before `until`.
pub(super) async fn forget_key(
    tx: &mut Tx,
    repeatable: &Repeatable,
    until: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "DELETE FROM idempotency_keys WHERE user_id = $1 AND path = $2 AND key = $3 AND created_at <= $4",
        &[&repeatable.user, &repeatable.path, &repeatable.key, &until],
    )
    .await?;
    Ok(())
}

pub(super) async fn insert_key(
    tx: &mut Tx,
    repeatable: &Repeatable,
    body: &str,
    now: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO idempotency_keys (user_id, path, key, fingerprint, body, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
        &[&repeatable.user, &repeatable.path, &repeatable.key, &repeatable.fingerprint, &body, &now],
    )
    .await?;
    Ok(())
}

/// A record from the columns id, product, title, quantity, description, time and, of inflows, supplier and its name.
pub(super) fn record_of(movement: Movement, row: &Row<'_>) -> Result<MovementRecord, Error> {
    let supplier = match movement {
        Movement::Inflow => Some(Named {
            id: row.get(6)?,
            name: row.get(7)?,
        }),
        Movement::Outflow => None,
    };
    let created_at = row.get(5)?;
    Ok(MovementRecord {
        id: row.get(0)?,
        supplier,
        product: Titled {
            id: row.get(1)?,
            title: row.get(2)?,
        },
        quantity: row.get(3)?,
        description: row.get(4)?,
        created_at,
        updated_at: created_at,
    })
}
