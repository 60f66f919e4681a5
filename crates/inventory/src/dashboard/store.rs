//! Statements of the dashboard's own: names of what is tallied by id, and what a few products sold of late.

use db::{Conn, Error, Query, Timestamp};

use crate::tallies::Dimension;

/// The names of some categories or brands.
pub(super) async fn names(
    conn: &mut Conn,
    dimension: Dimension,
    ids: &[i64],
) -> Result<Vec<(i64, String)>, Error> {
    let mut query = Query::new(match dimension {
        Dimension::Category => "SELECT id, name FROM categories WHERE id IN (0",
        Dimension::Brand => "SELECT id, name FROM brands WHERE id IN (0",
    });
    push_ids(&mut query, ids);
    conn.all_of(&query, |row| Ok((row.get(0)?, row.get(1)?)))
        .await
}

/// Units that some products sold since a moment; those that sold nothing are left out.
pub(super) async fn sold_since(
    conn: &mut Conn,
    products: &[i64],
    since: Timestamp,
) -> Result<Vec<(i64, i64)>, Error> {
    let mut query = Query::new(
        "SELECT product_id, CAST(sum(quantity) AS BIGINT) FROM outflows WHERE product_id IN (0",
    );
    push_ids(&mut query, products);
    query
        .push(" AND created_at >= ")
        .bind(since)
        .push(" GROUP BY product_id");
    conn.all_of(&query, |row| Ok((row.get(0)?, row.get(1)?)))
        .await
}

/// The rest of a list that begins with an id that nothing has, so that there may be none.
fn push_ids(query: &mut Query, ids: &[i64]) {
    for id in ids {
        query.push(", ").bind(*id);
    }
    query.push(")");
}
