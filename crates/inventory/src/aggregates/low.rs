//! How many products are low, known exactly at any moment without counting them: counting half a
//! million took PostgreSQL 76 ms on every page of the list. What is low depends on the shop's
//! threshold, a setting of each process: the number is kept for the threshold that a process
//! started with last; a process with another threshold counts.

use db::{Conn, Db, Error, Tx};

use super::store::low;

/// How many products are below their own threshold, or below the shop's if they have none.
pub(crate) async fn count_low(conn: &mut Conn, shop: i64) -> Result<i64, Error> {
    match low::stored(conn).await? {
        Some((threshold, count)) if threshold == shop => Ok(count),
        _ => low::count(conn, shop).await,
    }
}

/// Records that a product became low (1) or no longer is (-1) while its quantity stayed. To be
/// called with its stock row locked.
pub(crate) async fn record_level(tx: &mut Tx, product: i64, low: i64) -> Result<(), Error> {
    low::record(tx, product, low).await
}

/// Counts the low products under the shop's threshold, unless their number is known under it and
/// right: it is verified at each start, since many lists trust it.
pub async fn refresh_low_count(db: &Db, shop: i64) -> Result<(), Error> {
    let is_known = db
        .report(async move |conn| {
            let counted = (shop, low::count(conn, shop).await?);
            Ok::<_, Error>(low::stored(conn).await? == Some(counted))
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

/// Counts again under the same threshold, where all deltas were thrown away.
pub(super) async fn recount(tx: &mut Tx) -> Result<(), Error> {
    if let Some((threshold, _)) = low::stored(tx).await? {
        let count = low::count(tx, threshold).await?;
        low::replace(tx, threshold, count).await?;
    }
    Ok(())
}
