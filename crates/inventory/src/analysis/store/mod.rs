//! Statements of the analyses: the queue of requests, the results, what was sold and when.

pub(super) mod queue;

use db::{Conn, Error};

/// The quantity that a product's newest analysis suggests to order; none when there is no analysis, or too little history to tell.
///
/// # Errors
///
/// Faults of the store.
pub async fn latest_suggestion(conn: &mut Conn, product: i64) -> Result<Option<i64>, Error> {
    conn.optional(
        "SELECT suggested_quantity FROM analyses WHERE product_id = $1 ORDER BY id DESC LIMIT 1",
        &[&product],
        |row| row.get(0),
    )
    .await
    .map(Option::flatten)
}
