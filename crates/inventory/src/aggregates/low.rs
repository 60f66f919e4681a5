//! The exact number of low products, available without counting: counting 500,000 products took
//! PostgreSQL 76 ms on every page of the list. The number depends on the shop's threshold, a
//! setting of each process. It is stored for the threshold that a process started with last. A
//! process with another threshold counts.

use db::{Conn, Db, Error, Tx};

use super::store::low;

/// The number of products below their own threshold, or below the shop's if they have none.
pub(crate) async fn count_low(conn: &mut Conn, shop: i64) -> Result<i64, Error> {
    match low::stored(conn).await? {
        Some((threshold, count)) if threshold == shop => Ok(count),
        _ => low::count(conn, shop).await,
    }
}

/// Counts the low products under the shop's threshold, unless the stored number has the same
/// threshold and is correct. Runs at each start and verifies the stored number, because many lists
/// rely on it.
pub async fn refresh_low_count(db: &Db, shop: i64) -> Result<(), Error> {
    let is_known = db
        .report(async move |conn| {
            let recounted = (shop, low::count(conn, shop).await?);
            Ok::<_, Error>(low::stored(conn).await? == Some(recounted))
        })
        .await?;
    if is_known {
        return Ok(());
    }
    db.write(async move |tx| {
        low::lock(tx).await?;
        let count = low::count(tx, shop).await?;
        low::replace(tx, shop, count).await
    })
    .await
}

/// Counts the low products again under the stored threshold. Called after all deltas were deleted.
pub(super) async fn recount(tx: &mut Tx) -> Result<(), Error> {
    if let Some((threshold, _)) = low::stored(tx).await? {
        let count = low::count(tx, threshold).await?;
        low::replace(tx, threshold, count).await?;
    }
    Ok(())
}
