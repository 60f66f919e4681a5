//! SQL of the dashboard: the names of categories and brands that are aggregated by id.

use db::{Conn, Error, Query};

use crate::aggregates::Dimension;

/// The names of these categories or brands, by id.
pub(super) async fn names(
    conn: &mut Conn,
    dimension: Dimension,
    ids: &[i64],
) -> Result<Vec<(i64, String)>, Error> {
    let mut query = Query::new(match dimension {
        Dimension::Category => "SELECT id, name FROM categories WHERE id",
        Dimension::Brand => "SELECT id, name FROM brands WHERE id",
    });
    query.any_of(ids.iter().copied());
    conn.all_of(&query, |row| Ok((row.get(0)?, row.get(1)?)))
        .await
}
