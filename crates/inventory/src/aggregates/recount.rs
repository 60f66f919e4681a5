//! Counting everything again from the records themselves, to verify the aggregates.

use std::collections::HashMap;

use db::{Conn, Db, Error};

use super::{
    AggregateDifference,
    model::{Aggregates, Delta},
    store,
};

/// Rows of one piece.
const PIECE: i64 = 10_000;

/// Counts everything and answers where the aggregates do not agree.
pub async fn verify(db: &Db) -> Result<Vec<AggregateDifference>, Error> {
    db.report(async |conn| {
        let stored = store::stored(conn).await?;
        let mut differences = stored.differences(&recount(conn).await?);
        if let Some((threshold, count)) = store::low::stored(conn).await? {
            let counted = store::low::count(conn, threshold).await?;
            differences.extend(AggregateDifference::of_low(threshold, count, counted));
        }
        Ok(differences)
    })
    .await
}

pub(super) async fn recount(conn: &mut Conn) -> Result<Aggregates, Error> {
    let mut aggregates = Aggregates::default();
    let mut last = 0;
    while let Some(id) = take(
        &mut aggregates,
        &store::products_after(conn, last, PIECE).await?,
    ) {
        last = id;
    }
    last = 0;
    while let Some(id) = take(
        &mut aggregates,
        &store::inflows_after(conn, last, PIECE).await?,
    ) {
        last = id;
    }
    recount_sales(conn, &mut aggregates).await?;
    Ok(aggregates)
}

/// Adds a piece, and answers the id of its last row.
fn take(aggregates: &mut Aggregates, piece: &[(i64, Delta)]) -> Option<i64> {
    for (_, change) in piece {
        aggregates.take(change);
    }
    piece.last().map(|(id, _)| *id)
}

/// Sales as the ledger has them, from the newest row to the oldest: so a reversal is met before
/// what it reverses, and cancels just that even where an import has used an id again.
async fn recount_sales(conn: &mut Conn, aggregates: &mut Aggregates) -> Result<(), Error> {
    let mut reversed: HashMap<i64, u32> = HashMap::new();
    let mut before = i64::MAX;
    loop {
        let piece = store::outflows_before(conn, before, PIECE).await?;
        let Some(oldest) = piece.last() else {
            return Ok(());
        };
        before = oldest.entry;
        for sold in &piece {
            let outflow = sold.outflow.unwrap_or_default();
            if sold.is_reversal {
                *reversed.entry(outflow).or_default() += 1;
            } else if let Some(waiting) = reversed.get_mut(&outflow) {
                *waiting -= 1;
                if *waiting == 0 {
                    reversed.remove(&outflow);
                }
            } else {
                aggregates.take(&sold.change);
            }
        }
    }
}
