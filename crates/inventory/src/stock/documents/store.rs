//! SQL for documents and their lines. The movements and adjustments that they book are written by
//! `movements` and `adjustments`.

use db::{Conn, Error, Row, Timestamp, Tx};
use resource::FieldType as _;

use super::model::{CurrentProduct, Document, DocumentKind, DocumentLine, DocumentSummary};
use crate::rest::json::{Named, Titled};

/// Selects document summaries. `$at` is the column for `DocumentSummary::at`.
macro_rules! summaries {
    ($at:literal, $rest:literal) => {
        concat!(
            "SELECT d.id, d.user_name, s.name, d.label,
                 (SELECT count(*) FROM stock_document_lines AS l WHERE l.document_id = d.id),
                 (SELECT count(l.quantity) FROM stock_document_lines AS l WHERE l.document_id = d.id),
                 CAST(COALESCE((SELECT sum(l.quantity) FROM stock_document_lines AS l WHERE l.document_id = d.id), 0) AS BIGINT), ",
            $at,
            " FROM stock_documents AS d LEFT JOIN suppliers AS s ON s.id = d.supplier_id ",
            $rest
        )
    };
}

/// Inserts a draft. Returns its id.
pub(super) async fn insert(
    tx: &mut Tx,
    kind: DocumentKind,
    user: &Named,
    now: Timestamp,
) -> Result<i64, Error> {
    tx.one(
        "INSERT INTO stock_documents (kind, user_id, user_name, label, updated_at) VALUES ($1, $2, $3, '', $4) RETURNING id",
        &[&kind.name(), &user.id, &user.name, &now],
        |row| row.get(0),
    )
    .await
}

pub(super) async fn count_drafts(
    conn: &mut Conn,
    kind: DocumentKind,
    user: i64,
) -> Result<i64, Error> {
    let sql = "SELECT count(*) FROM stock_documents WHERE user_id = $1 AND kind = $2 AND booked_at IS NULL";
    conn.one(sql, &[&user, &kind.name()], |row| row.get(0))
        .await
}

/// Locks a user's draft until the transaction ends. The draft of a deleted user becomes this user's.
/// Returns false if there is no such draft.
pub(super) async fn lock_draft(
    tx: &mut Tx,
    (kind, id): (DocumentKind, i64),
    user: &Named,
    now: Timestamp,
) -> Result<bool, Error> {
    let sql = "UPDATE stock_documents SET updated_at = $5, user_id = $3, user_name = $4
         WHERE id = $1 AND kind = $2 AND (user_id = $3 OR user_id IS NULL) AND booked_at IS NULL";
    tx.execute_one(sql, &[&id, &kind.name(), &user.id, &user.name, &now])
        .await
}

pub(in crate::stock) async fn set_header(
    tx: &mut Tx,
    id: i64,
    supplier: Option<i64>,
    label: &str,
) -> Result<(), Error> {
    let sql = "UPDATE stock_documents SET supplier_id = $2, label = $3 WHERE id = $1";
    tx.execute(sql, &[&id, &supplier, &label]).await.map(drop)
}

/// Inserts or updates the line of a product, with its quantity and the current stock.
pub(in crate::stock) async fn put_line(
    tx: &mut Tx,
    document: i64,
    product: &Titled,
    quantity: Option<i64>,
) -> Result<(), Error> {
    let sql = "INSERT INTO stock_document_lines (document_id, product_id, title, quantity, expected)
         VALUES ($1, $2, $3, $4, (SELECT s.quantity FROM product_stock AS s WHERE s.product_id = $2))
         ON CONFLICT (document_id, product_id) DO UPDATE SET quantity = excluded.quantity, expected = excluded.expected";
    tx.execute(sql, &[&document, &product.id, &product.title, &quantity])
        .await
        .map(drop)
}

pub(in crate::stock) async fn set_quantity(
    tx: &mut Tx,
    document: i64,
    line: i64,
    quantity: Option<i64>,
) -> Result<(), Error> {
    let sql = "UPDATE stock_document_lines
         SET quantity = $3, expected = (SELECT s.quantity FROM product_stock AS s WHERE s.product_id = stock_document_lines.product_id)
         WHERE id = $2 AND document_id = $1";
    tx.execute(sql, &[&document, &line, &quantity])
        .await
        .map(drop)
}

pub(in crate::stock) async fn delete_line(
    tx: &mut Tx,
    document: i64,
    line: i64,
) -> Result<(), Error> {
    let sql = "DELETE FROM stock_document_lines WHERE id = $2 AND document_id = $1";
    tx.execute(sql, &[&document, &line]).await.map(drop)
}

pub(in crate::stock) async fn set_inflow(tx: &mut Tx, line: i64, inflow: i64) -> Result<(), Error> {
    let sql = "UPDATE stock_document_lines SET inflow_id = $2 WHERE id = $1";
    tx.execute(sql, &[&line, &inflow]).await.map(drop)
}

/// Clears what the lines of a document have from its booking.
pub(in crate::stock) async fn forget_booking(tx: &mut Tx, document: i64) -> Result<(), Error> {
    let sql = "UPDATE stock_document_lines SET inflow_id = NULL, cost_price = NULL WHERE document_id = $1";
    tx.execute(sql, &[&document]).await.map(drop)
}

/// Marks a document as booked. Its value is that of today's prices from here on.
pub(super) async fn set_booked(tx: &mut Tx, id: i64, now: Timestamp) -> Result<(), Error> {
    let sql = "UPDATE stock_document_lines
         SET cost_price = (SELECT p.cost_price FROM products AS p WHERE p.id = stock_document_lines.product_id)
         WHERE document_id = $1";
    tx.execute(sql, &[&id]).await?;
    let sql = "UPDATE stock_documents SET booked_at = $2 WHERE id = $1";
    tx.execute(sql, &[&id, &now]).await.map(drop)
}

/// Makes a booked document a draft again and locks it. Returns false if it was not booked.
pub(in crate::stock) async fn reopen(
    tx: &mut Tx,
    (kind, id): (DocumentKind, i64),
    now: Timestamp,
) -> Result<bool, Error> {
    let sql = "UPDATE stock_documents SET booked_at = NULL, updated_at = $3 WHERE id = $1 AND kind = $2 AND booked_at IS NOT NULL";
    tx.execute_one(sql, &[&id, &kind.name(), &now]).await
}

/// Deletes a user's draft with its lines. Returns false if there was none.
pub(super) async fn delete_draft(
    tx: &mut Tx,
    (kind, id): (DocumentKind, i64),
    user: i64,
) -> Result<bool, Error> {
    let sql = "DELETE FROM stock_documents WHERE id = $1 AND kind = $2 AND (user_id = $3 OR user_id IS NULL) AND booked_at IS NULL";
    tx.execute_one(sql, &[&id, &kind.name(), &user]).await
}

pub(in crate::stock) async fn find(
    conn: &mut Conn,
    (kind, id): (DocumentKind, i64),
) -> Result<Option<Document>, Error> {
    let document = conn
        .optional(
            "SELECT d.id, d.user_id, d.user_name, d.supplier_id, s.name, d.label, d.booked_at
             FROM stock_documents AS d LEFT JOIN suppliers AS s ON s.id = d.supplier_id
             WHERE d.id = $1 AND d.kind = $2",
            &[&id, &kind.name()],
            document_of,
        )
        .await?;
    let Some(mut document) = document else {
        return Ok(None);
    };
    document.lines = lines(conn, id).await?;
    Ok(Some(document))
}

fn document_of(row: &Row<'_>) -> Result<Document, Error> {
    let (supplier, name): (Option<i64>, Option<String>) = (row.get(3)?, row.get(4)?);
    Ok(Document {
        id: row.get(0)?,
        user: row.get(1)?,
        user_name: row.get(2)?,
        supplier: supplier.zip(name).map(|(id, name)| Named { id, name }),
        label: row.get(5)?,
        booked_at: row.get(6)?,
        lines: Vec::new(),
    })
}

/// The lines of a document, last added first.
pub(in crate::stock) async fn lines(
    conn: &mut Conn,
    document: i64,
) -> Result<Vec<DocumentLine>, Error> {
    conn.all(
        "SELECT l.id, l.product_id, COALESCE(p.title, l.title), l.quantity, l.expected, l.inflow_id, COALESCE(l.cost_price, p.cost_price), p.serie_number, s.quantity
         FROM stock_document_lines AS l LEFT JOIN products AS p ON p.id = l.product_id LEFT JOIN product_stock AS s ON s.product_id = p.id
         WHERE l.document_id = $1 ORDER BY l.id DESC",
        &[&document],
        line_of,
    )
    .await
}

fn line_of(row: &Row<'_>) -> Result<DocumentLine, Error> {
    let serie_number = row.get(7)?;
    let stock: Option<i64> = row.get(8)?;
    Ok(DocumentLine {
        id: row.get(0)?,
        product: Titled::from_row(row, &mut 1)?,
        present: stock.map(|stock| CurrentProduct {
            serie_number,
            stock,
        }),
        cost_price: row.get(6)?,
        quantity: row.get(3)?,
        expected: row.get(4)?,
        inflow: row.get(5)?,
    })
}

/// The drafts of a user and those of deleted users, last changed first.
pub(super) async fn drafts(
    conn: &mut Conn,
    kind: DocumentKind,
    user: i64,
    limit: i64,
) -> Result<Vec<DocumentSummary>, Error> {
    let sql = summaries!(
        "d.updated_at",
        "WHERE (d.user_id = $1 OR d.user_id IS NULL) AND d.kind = $2 AND d.booked_at IS NULL ORDER BY d.updated_at DESC, d.id DESC LIMIT $3"
    );
    conn.all(sql, &[&user, &kind.name(), &limit], summary_of)
        .await
}

/// The documents that were booked last, newest first.
pub(super) async fn booked(
    conn: &mut Conn,
    kind: DocumentKind,
    limit: i64,
) -> Result<Vec<DocumentSummary>, Error> {
    let sql = summaries!(
        "d.booked_at",
        "WHERE d.kind = $1 AND d.booked_at IS NOT NULL ORDER BY d.booked_at DESC, d.id DESC LIMIT $2"
    );
    conn.all(sql, &[&kind.name(), &limit], summary_of).await
}

fn summary_of(row: &Row<'_>) -> Result<DocumentSummary, Error> {
    Ok(DocumentSummary {
        id: row.get(0)?,
        username: row.get(1)?,
        supplier: row.get(2)?,
        label: row.get(3)?,
        products: row.get(4)?,
        counted: row.get(5)?,
        units: row.get(6)?,
        at: row.get(7)?,
    })
}
