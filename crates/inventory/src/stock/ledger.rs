//! The ledger: every change of a quantity is one immutable row, and only this module inserts rows.
//! At every commit, a product's quantity equals the sum of its changes.

use db::Timestamp;

pub use super::model::EntryKind;
use super::{LockedStock, QuantityError, model::NewEntry, quantity_after, store};
use crate::{
    aggregates::{self, Delta, ProductSnapshot, day_of},
    movement::Movement,
    work::Work,
};

/// A stock row that an entry has locked and changed, with the product's prices. These are
/// consistent: every change of prices locks the stock row.
pub(super) struct ChangedStock {
    stock: LockedStock,
    snapshot: ProductSnapshot,
}

impl NewEntry<'_> {
    /// Whether the product may be archived: only new movements are refused.
    pub(super) const fn may_be_archived(&self) -> bool {
        self.is_imported || !matches!(self.kind, EntryKind::Inflow | EntryKind::Outflow)
    }

    /// The time of the movement. Final once the stock row is locked, since that may raise the time
    /// of the write.
    pub(super) fn moved_at(&self, work: &Work<'_>) -> Timestamp {
        self.moved_at.unwrap_or(work.now)
    }
}

/// Inserts the stock row of a new product, with its opening quantity and the time of its last change.
pub(crate) async fn open(
    work: &mut Work<'_>,
    product: i64,
    snapshot: ProductSnapshot,
    quantity: i64,
    updated_at: Timestamp,
) -> Result<(), db::Error> {
    store::insert(work, product, &snapshot, quantity, updated_at).await?;
    let entry = NewEntry::new(product, EntryKind::Opening, quantity);
    store::insert_entry(work, &entry, quantity, snapshot.prices()).await?;
    let stock = store::lock(work.tx, product).await?;
    let delta = Delta {
        product: snapshot,
        products: 1,
        units: quantity,
        low: stock.map_or(0, |stock| i64::from(stock.is_low())),
        ..Delta::default()
    };
    aggregates::record(work.tx, &delta).await
}

/// Changes a quantity and writes the ledger row. Returns the stock after the change. If the
/// quantity cannot be changed, writes nothing.
pub(super) async fn apply(
    work: &mut Work<'_>,
    entry: &NewEntry<'_>,
) -> Result<Result<LockedStock, QuantityError>, db::Error> {
    match change(work, entry).await? {
        Ok(changed) => record(work, entry, changed).await.map(Ok),
        Err(error) => Ok(Err(error)),
    }
}

/// Locks the stock row and changes its quantity. The ledger row follows by [`record`]; the movement
/// is inserted in between. If the quantity cannot be changed, writes nothing.
pub(super) async fn change(
    work: &mut Work<'_>,
    entry: &NewEntry<'_>,
) -> Result<Result<ChangedStock, QuantityError>, db::Error> {
    let product = entry.product;
    let mut stock = None;
    if !entry.is_past {
        stock = store::change_quantity(work, entry).await?;
    }
    if stock.is_none() {
        // A refused change locks nothing, so the stock may have changed since.
        stock = store::lock_quantity(work, product).await?;
        if let Err(error) = check(stock.as_ref(), entry) {
            return Ok(Err(error));
        }
        if !entry.is_past {
            stock = store::change_quantity(work, entry).await?;
        }
    }
    let snapshot = aggregates::product_snapshot(work.tx, product).await?;
    let changed = stock.zip(snapshot);
    Ok(changed
        .map(|(stock, snapshot)| ChangedStock { stock, snapshot })
        .ok_or(QuantityError::NoProduct))
}

/// Whether a stock row allows a change.
fn check(stock: Option<&LockedStock>, entry: &NewEntry<'_>) -> Result<(), QuantityError> {
    let stock = stock.ok_or(QuantityError::NoProduct)?;
    if stock.state.is_archived() && !entry.may_be_archived() {
        return Err(QuantityError::Archived);
    }
    let change = if entry.is_past {
        entry.change.abs()
    } else {
        entry.change
    };
    quantity_after(stock.quantity, change).map(drop)
}

/// Writes the ledger row of a change. Returns the stock after the change.
pub(super) async fn record(
    work: &mut Work<'_>,
    entry: &NewEntry<'_>,
    changed: ChangedStock,
) -> Result<LockedStock, db::Error> {
    let ChangedStock { stock, snapshot } = changed;
    if entry.is_past {
        return record_past(work, entry, changed).await;
    }
    store::insert_entry(work, entry, stock.quantity, snapshot.prices()).await?;
    let low = i64::from(stock.is_low()) - i64::from(stock.before(entry.change).is_low());
    let delta = Delta {
        units: entry.change,
        low,
        ..movement_delta(work, entry, snapshot).await?
    };
    aggregates::record(work.tx, &delta).await?;
    Ok(stock)
}

/// Records a movement that is older than the product's opening quantity and therefore included in
/// it. Writes the movement's row and an adjustment that cancels it. The positive change comes
/// first, so that no balance falls below zero.
async fn record_past(
    work: &mut Work<'_>,
    entry: &NewEntry<'_>,
    ChangedStock { stock, snapshot }: ChangedStock,
) -> Result<LockedStock, db::Error> {
    let cancelling = NewEntry {
        kind: EntryKind::Adjustment,
        change: -entry.change,
        reference: None,
        ..*entry
    };
    let (first, second) = if entry.change > 0 {
        (entry, &cancelling)
    } else {
        (&cancelling, entry)
    };
    let upper_balance = stock.quantity + entry.change.abs();
    store::insert_entry(work, first, upper_balance, snapshot.prices()).await?;
    store::insert_entry(work, second, stock.quantity, snapshot.prices()).await?;
    store::set_booked_at(work.tx, entry.product, work.now).await?;
    // The quantity did not change, but the movement counts in its day.
    let delta = movement_delta(work, entry, snapshot).await?;
    aggregates::record(work.tx, &delta).await?;
    Ok(stock)
}

/// What an entry adds to its movement's day, if it has a movement. A deletion subtracts the movement
/// at the prices of its booking.
async fn movement_delta(
    work: &mut Work<'_>,
    entry: &NewEntry<'_>,
    product: ProductSnapshot,
) -> Result<Delta, db::Error> {
    let unmoved = Delta {
        product,
        ..Delta::default()
    };
    let Some(movement) = entry.kind.movement() else {
        return Ok(unmoved);
    };
    let is_deleted = entry.kind == movement.kinds().1;
    let booked = match entry.reference.filter(|_| is_deleted) {
        Some(id) => store::booked_prices(work.tx, movement, id).await?,
        None => None,
    };
    let movements = if is_deleted { -1 } else { 1 };
    let moved_units = movements * entry.change.abs();
    Ok(Delta {
        moved: Some((movement, day_of(entry.moved_at(work)))),
        supplier: entry.supplier,
        movements,
        moved_units,
        booked_prices: booked.unwrap_or_else(|| product.prices()),
        present: match movement {
            Movement::Inflow => 0,
            Movement::Outflow => moved_units,
        },
        movement_id: entry.reference.filter(|_| !is_deleted),
        ..unmoved
    })
}
