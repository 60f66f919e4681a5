//! SQL for the suppliers of products.

use db::{Conn, Error, Query};

use super::model::OrderSource;
use crate::rest::json::Named;

/// Serie number and last supplier of these products.
pub(super) async fn sources(
    conn: &mut Conn,
    products: &[i64],
) -> Result<Vec<(i64, OrderSource)>, Error> {
    let mut query = Query::new(
        "SELECT p.id, p.serie_number, s.id, s.name
         FROM products AS p
         LEFT JOIN suppliers AS s
             ON s.id = (SELECT i.supplier_id FROM inflows AS i WHERE i.product_id = p.id
                        ORDER BY i.created_at DESC, i.id DESC LIMIT 1)
         WHERE p.id",
    );
    query.any_of(products.iter().copied());
    conn.all_of(&query, |row| {
        let supplier: Option<(i64, String)> = row.get::<Option<i64>>(2)?.zip(row.get(3)?);
        let source = OrderSource {
            serie_number: row.get(1)?,
            supplier: supplier.map(|(id, name)| Named { id, name }),
        };
        Ok((row.get(0)?, source))
    })
    .await
}
