//! What is shown of the products that events are about.

use db::{Conn, Error, Query};

/// The titles of products that are still there, with their ids.
pub(super) async fn titles(conn: &mut Conn, products: &[i64]) -> Result<Vec<(i64, String)>, Error> {
    let mut query = Query::new("SELECT id, title FROM products WHERE id");
    query.any_of(products.iter().copied());
    conn.all_of(&query, |row| Ok((row.get(0)?, row.get(1)?)))
        .await
}
