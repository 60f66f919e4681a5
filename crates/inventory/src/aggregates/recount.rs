//! Recounts everything from the records, to verify the aggregates.

use std::collections::HashMap;

use db::{Conn, Db, Error};

use super::{Delta, Difference, model::Aggregates, store};

const BATCH_SIZE: i64 = 10_000;

/// Recounts everything and returns the aggregates that do not match.
pub async fn verify(db: &Db) -> Result<Vec<Difference>, Error> {
    db.report(async |conn| {
        let stored = store::stored(conn).await?;
        let mut differences = stored.differences(&recount(conn).await?);
        if let Some((threshold, count)) = store::low::stored(conn).await? {
            let counted = store::low::count(conn, threshold).await?;
            let name = format!("low products under a threshold of {threshold}");
            let different = (count != counted).then_some((count, counted));
            differences.extend(
                different.map(|(stored, counted)| Difference::of_aggregate(name, stored, counted)),
            );
        }
        Ok(differences)
    })
    .await
}

pub(super) async fn recount(conn: &mut Conn) -> Result<Aggregates, Error> {
    let mut aggregates = Aggregates::default();
    let mut last = 0;
    while let Some(id) = add_batch(
        &mut aggregates,
        &store::products_after(conn, last, BATCH_SIZE).await?,
    ) {
        last = id;
    }
    last = 0;
    while let Some(id) = add_batch(
        &mut aggregates,
        &store::inflows_after(conn, last, BATCH_SIZE).await?,
    ) {
        last = id;
    }
    recount_sales(conn, &mut aggregates).await?;
    Ok(aggregates)
}

/// Adds a batch. Returns the id of its last row.
fn add_batch(aggregates: &mut Aggregates, batch: &[(i64, Delta)]) -> Option<i64> {
    for (_, change) in batch {
        aggregates.add(change);
    }
    batch.last().map(|(id, _)| *id)
}

/// Adds the sales in the ledger, newest row first. A reversal is met before the outflow that it
/// reverses, and cancels exactly that one, even if an import used the same id again.
async fn recount_sales(conn: &mut Conn, aggregates: &mut Aggregates) -> Result<(), Error> {
    let mut reversed: HashMap<i64, u32> = HashMap::new();
    let mut before = i64::MAX;
    loop {
        let batch = store::outflows_before(conn, before, BATCH_SIZE).await?;
        let Some(oldest) = batch.last() else {
            return Ok(());
        };
        before = oldest.entry;
        for sold in &batch {
            let outflow = sold.outflow.unwrap_or_default();
            if sold.is_reversal {
                *reversed.entry(outflow).or_default() += 1;
            } else if let Some(reversals) = reversed.get_mut(&outflow) {
                *reversals -= 1;
                if *reversals == 0 {
                    reversed.remove(&outflow);
                }
            } else {
                aggregates.add(&sold.change);
            }
        }
    }
}
