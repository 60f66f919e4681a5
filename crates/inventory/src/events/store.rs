//! SQL statements about the products of events.

use db::{Conn, Error, Query};

/// The ids and titles of existing products.
pub(super) async fn titles(conn: &mut Conn, products: &[i64]) -> Result<Vec<(i64, String)>, Error> {
    let mut query = Query::new("SELECT id, title FROM products WHERE id");
    query.any_of(products.iter().copied());
    conn.all_of(&query, |row| Ok((row.get(0)?, row.get(1)?)))
        .await
}
