//! Exact totals for lists and the dashboard that are too slow to count by query: movements per day,
//! units and value sold per UTC day, the stock of each category and brand.
//!
//! Every change inserts one delta into `aggregate_deltas` in its own transaction, and a worker
//! compacts the deltas into the aggregates. With a shared counter instead, every sale would wait
//! for the lock of one row. Readers add up aggregates and deltas in one statement, so totals are
//! always exact. A change of a price records a revaluation of the product's sales, one delta per
//! day. Carries no rule of the specification. `balcao inventory verify` recounts everything and
//! compares.

mod low;
mod model;
mod notifier;
mod recount;
mod store;
mod sum;
mod worker;

pub(crate) use low::count_low;
pub use low::refresh_low_count;
pub use model::{DAY, DayAggregate, Difference, Dimension, StockAggregate, day_of};
pub(crate) use model::{Delta, ProductSnapshot};
pub use notifier::ChangeNotifier;
pub use recount::verify;
pub(crate) use store::{
    DeltaRow, count_products, ledger_end, movement_range, product_snapshot, record,
    versions::{note_change, version},
};
pub use store::{days, stock};
pub use sum::Sum;
pub(crate) use sum::{sum_of_units, summed_units};
pub(crate) use worker::work;
pub use worker::{compact, compact_all, compact_batch};

use db::{Error, Timestamp, Tx};

/// Records that a product's category, brand or prices have changed: moves its stock to the new
/// values, and revalues its past sales at the new prices. The caller has locked the stock row.
pub(crate) async fn record_change(
    tx: &mut Tx,
    product: i64,
    quantity: i64,
    (before, after): (ProductSnapshot, ProductSnapshot),
) -> Result<(), Error> {
    for (product, products) in [(before, -1), (after, 1)] {
        let delta = Delta {
            product,
            products,
            units: products * quantity,
            ..Delta::default()
        };
        record(tx, &delta).await?;
    }
    if before.prices() == after.prices() {
        return Ok(());
    }
    let mut sales: Vec<(Timestamp, i64)> = Vec::new();
    for (at, units) in store::sales(tx, product).await? {
        let day = day_of(at);
        // The units of a day may not fit into one number.
        if let Some((last, sum)) = sales.last_mut()
            && *last == day
            && let Some(more) = sum.checked_add(units)
        {
            *sum = more;
        } else {
            sales.push((day, units));
        }
    }
    store::record_revaluation(tx, &sales, before.prices(), after.prices()).await
}

/// Recounts everything and replaces the stored aggregates and deltas.
pub(crate) async fn rebuild(tx: &mut Tx) -> Result<(), Error> {
    let aggregates = recount::recount(tx).await?;
    store::replace(tx, &aggregates).await?;
    low::recount(tx).await
}
