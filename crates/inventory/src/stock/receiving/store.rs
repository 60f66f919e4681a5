//! Statements about receipts and their lines. The inflows that they become are written by `movements`.

use db::{Conn, Error, Row, Timestamp, Tx};

use super::model::{Line, Receipt, Summary};
use crate::rest::json::{Named, Titled};

/// Receipts in a list, narrowed and ordered by what is given; `$at` is the column of their moment.
macro_rules! summaries {
    ($at:literal, $rest:literal) => {
        concat!(
            "SELECT r.id, u.username, s.name, r.invoice,
                 (SELECT count(*) FROM receipt_lines AS l WHERE l.receipt_id = r.id),
                 CAST(COALESCE((SELECT sum(l.quantity) FROM receipt_lines AS l WHERE l.receipt_id = r.id), 0) AS BIGINT), ",
            $at,
            " FROM receipts AS r JOIN users AS u ON u.id = r.user_id LEFT JOIN suppliers AS s ON s.id = r.supplier_id ",
            $rest
        )
    };
}

/// Begins a draft; its id.
pub(super) async fn insert(tx: &mut Tx, user: i64, now: Timestamp) -> Result<i64, Error> {
    tx.one(
        "INSERT INTO receipts (user_id, invoice, updated_at) VALUES ($1, '', $2) RETURNING id",
        &[&user, &now],
        |row| row.get(0),
    )
    .await
}

pub(super) async fn count_drafts(conn: &mut Conn, user: i64) -> Result<i64, Error> {
    let sql = "SELECT count(*) FROM receipts WHERE user_id = $1 AND booked_at IS NULL";
    conn.one(sql, &[&user], |row| row.get(0)).await
}

/// Locks a user's draft until the transaction ends; whether there is one of this id.
pub(super) async fn lock_draft(
    tx: &mut Tx,
    id: i64,
    user: i64,
    now: Timestamp,
) -> Result<bool, Error> {
    let sql =
        "UPDATE receipts SET updated_at = $3 WHERE id = $1 AND user_id = $2 AND booked_at IS NULL";
    Ok(tx.execute(sql, &[&id, &user, &now]).await? > 0)
}

pub(super) async fn set_header(
    tx: &mut Tx,
    id: i64,
    supplier: Option<i64>,
    invoice: &str,
) -> Result<(), Error> {
    let sql = "UPDATE receipts SET supplier_id = $2, invoice = $3 WHERE id = $1";
    tx.execute(sql, &[&id, &supplier, &invoice]).await?;
    Ok(())
}

/// Writes how many units of a product there are, in its line or a new one.
pub(super) async fn put_line(
    tx: &mut Tx,
    receipt: i64,
    product: &Titled,
    quantity: i64,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO receipt_lines (receipt_id, product_id, title, quantity) VALUES ($1, $2, $3, $4)
         ON CONFLICT (receipt_id, product_id) DO UPDATE SET quantity = excluded.quantity",
        &[&receipt, &product.id, &product.title, &quantity],
    )
    .await?;
    Ok(())
}

pub(super) async fn set_quantity(
    tx: &mut Tx,
    receipt: i64,
    line: i64,
    quantity: i64,
) -> Result<(), Error> {
    let sql = "UPDATE receipt_lines SET quantity = $3 WHERE id = $2 AND receipt_id = $1";
    tx.execute(sql, &[&receipt, &line, &quantity]).await?;
    Ok(())
}

pub(super) async fn delete_line(tx: &mut Tx, receipt: i64, line: i64) -> Result<(), Error> {
    let sql = "DELETE FROM receipt_lines WHERE id = $2 AND receipt_id = $1";
    tx.execute(sql, &[&receipt, &line]).await?;
    Ok(())
}

pub(super) async fn set_inflow(tx: &mut Tx, line: i64, inflow: i64) -> Result<(), Error> {
    let sql = "UPDATE receipt_lines SET inflow_id = $2 WHERE id = $1";
    tx.execute(sql, &[&line, &inflow]).await?;
    Ok(())
}

pub(super) async fn forget_inflows(tx: &mut Tx, receipt: i64) -> Result<(), Error> {
    let sql = "UPDATE receipt_lines SET inflow_id = NULL WHERE receipt_id = $1";
    tx.execute(sql, &[&receipt]).await?;
    Ok(())
}

pub(super) async fn set_booked(tx: &mut Tx, id: i64, now: Timestamp) -> Result<(), Error> {
    let sql = "UPDATE receipts SET booked_at = $2 WHERE id = $1";
    tx.execute(sql, &[&id, &now]).await?;
    Ok(())
}

/// Makes a booked receipt a draft again; whether it was booked. Its row stays locked until the transaction ends.
pub(super) async fn reopen(tx: &mut Tx, id: i64, now: Timestamp) -> Result<bool, Error> {
    let sql = "UPDATE receipts SET booked_at = NULL, updated_at = $2 WHERE id = $1 AND booked_at IS NOT NULL";
    Ok(tx.execute(sql, &[&id, &now]).await? > 0)
}

/// Deletes a user's draft with its lines; whether it was there.
pub(super) async fn delete_draft(tx: &mut Tx, id: i64, user: i64) -> Result<bool, Error> {
    let sql = "DELETE FROM receipts WHERE id = $1 AND user_id = $2 AND booked_at IS NULL";
    Ok(tx.execute(sql, &[&id, &user]).await? > 0)
}

pub(super) async fn find(conn: &mut Conn, id: i64) -> Result<Option<Receipt>, Error> {
    let receipt = conn
        .optional(
            "SELECT r.id, r.user_id, u.username, r.supplier_id, s.name, r.invoice, r.booked_at
             FROM receipts AS r JOIN users AS u ON u.id = r.user_id LEFT JOIN suppliers AS s ON s.id = r.supplier_id
             WHERE r.id = $1",
            &[&id],
            receipt_of,
        )
        .await?;
    let Some(mut receipt) = receipt else {
        return Ok(None);
    };
    receipt.lines = lines(conn, id).await?;
    Ok(Some(receipt))
}

fn receipt_of(row: &Row<'_>) -> Result<Receipt, Error> {
    let (supplier, name): (Option<i64>, Option<String>) = (row.get(3)?, row.get(4)?);
    Ok(Receipt {
        id: row.get(0)?,
        user: Named {
            id: row.get(1)?,
            name: row.get(2)?,
        },
        supplier: supplier.zip(name).map(|(id, name)| Named { id, name }),
        invoice: row.get(5)?,
        booked_at: row.get(6)?,
        lines: Vec::new(),
    })
}

/// The lines of a receipt, the last that was added first.
pub(super) async fn lines(conn: &mut Conn, receipt: i64) -> Result<Vec<Line>, Error> {
    conn.all(
        "SELECT l.id, l.product_id, COALESCE(p.title, l.title), p.cost_price, l.quantity, l.inflow_id
         FROM receipt_lines AS l LEFT JOIN products AS p ON p.id = l.product_id
         WHERE l.receipt_id = $1 ORDER BY l.id DESC",
        &[&receipt],
        |row| {
            Ok(Line {
                id: row.get(0)?,
                product: Titled {
                    id: row.get(1)?,
                    title: row.get(2)?,
                },
                cost_price: row.get(3)?,
                quantity: row.get(4)?,
                inflow: row.get(5)?,
            })
        },
    )
    .await
}

/// A user's drafts, the last that was changed first.
pub(super) async fn drafts(conn: &mut Conn, user: i64, limit: i64) -> Result<Vec<Summary>, Error> {
    let sql = summaries!(
        "r.updated_at",
        "WHERE r.user_id = $1 AND r.booked_at IS NULL ORDER BY r.updated_at DESC, r.id DESC LIMIT $2"
    );
    conn.all(sql, &[&user, &limit], summary_of).await
}

/// What was booked last, the newest first.
pub(super) async fn booked(conn: &mut Conn, limit: i64) -> Result<Vec<Summary>, Error> {
    let sql = summaries!(
        "r.booked_at",
        "WHERE r.booked_at IS NOT NULL ORDER BY r.booked_at DESC, r.id DESC LIMIT $1"
    );
    conn.all(sql, &[&limit], summary_of).await
}

fn summary_of(row: &Row<'_>) -> Result<Summary, Error> {
    Ok(Summary {
        id: row.get(0)?,
        username: row.get(1)?,
        supplier: row.get(2)?,
        invoice: row.get(3)?,
        products: row.get(4)?,
        units: row.get(5)?,
        at: row.get(6)?,
    })
}
