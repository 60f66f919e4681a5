//! SQL for the products that a supplier delivers. The SQL of counts themselves is in `documents`.

use db::{Conn, Error};
use resource::FieldType as _;

use crate::rest::json::Titled;

/// The number of a supplier's latest inflows in which its products are searched.
pub(crate) const LAST_INFLOWS: i64 = 10_000;

/// The products that a supplier has delivered lately and that are not archived, ordered by title.
pub(super) async fn of_supplier(
    conn: &mut Conn,
    supplier: i64,
    limit: i64,
) -> Result<Vec<Titled>, Error> {
    conn.all(
        "SELECT p.id, p.title FROM products AS p JOIN product_stock AS s ON s.product_id = p.id
         WHERE s.archived_at IS NULL
           AND p.id IN (SELECT m.product_id FROM (SELECT product_id FROM inflows WHERE supplier_id = $1 ORDER BY id DESC LIMIT $2) AS m)
         ORDER BY p.title_folded, p.id LIMIT $3",
        &[&supplier, &LAST_INFLOWS, &limit],
        |row| Titled::from_row(row, &mut 0),
    )
    .await
}
