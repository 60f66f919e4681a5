//! The ledger: every change of a quantity is one immutable row, and only this module inserts rows.
//! At every commit, a product's quantity equals the sum of its changes.

use db::Timestamp;

pub use super::model::EntryKind;
use super::{LockedStock, QuantityError, model::NewEntry, quantity_after, store};
use crate::{
    aggregates::{self, MovementDelta, ProductSnapshot, StockDelta},
    work::Work,
};

/// A stock row that an entry has locked and changed, with the product's prices. These are
/// consistent: every change of prices locks the stock row.
pub(super) struct ChangedStock {
    stock: LockedStock,
    snapshot: ProductSnapshot,
}

impl NewEntry<'_> {
    /// The change of the quantity. None if the opening included the movement.
    pub(super) const fn net(&self) -> i64 {
        if self.is_past { 0 } else { self.change }
    }

    /// The change to the farthest balance of the rows of this entry. The two of a past movement
    /// cancel each other, and the positive one comes first.
    pub(super) const fn extreme(&self) -> i64 {
        if self.is_past {
            self.change.abs()
        } else {
            self.change
        }
    }

    /// Whether the product may be archived: only new movements are refused.
    pub(super) const fn may_be_archived(&self) -> bool {
        self.is_past
            || self.is_imported
            || !matches!(self.kind, EntryKind::Inflow | EntryKind::Outflow)
    }

    /// The time of the movement. Final once the stock row is locked, since that may raise the time
    /// of the write.
    pub(super) fn moved_at(&self, work: &Work<'_>) -> Timestamp {
        self.moved_at.unwrap_or(work.now)
    }

    /// The movement of this entry, for the aggregates. `None` for openings and adjustments.
    fn movement(&self, work: &Work<'_>) -> Option<MovementDelta> {
        Some(MovementDelta {
            movement: self.kind.movement()?,
            id: self.reference,
            supplier: self.supplier,
            at: self.moved_at(work),
            units: self.change.abs(),
        })
    }
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
    let mut stock = store::change_quantity(work, entry).await?;
    if stock.is_none() {
        // A refused change locks nothing, so the stock may have changed since.
        let locked = store::lock_quantity(work, product).await?;
        if let Err(error) = check(locked.as_ref(), entry) {
            return Ok(Err(error));
        }
        stock = store::change_quantity(work, entry).await?;
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
    quantity_after(stock.quantity, entry.extreme()).map(drop)
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
    // The aggregates count the product from its opening on, so it was not low before.
    let was_low = entry.kind != EntryKind::Opening && stock.before(entry.change).is_low();
    let delta = StockDelta {
        units: entry.change,
        low: i64::from(stock.is_low()) - i64::from(was_low),
    };
    record_delta(work, entry, &snapshot, delta).await?;
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
    // The quantity did not change, but the movement counts in its day.
    record_delta(work, entry, &snapshot, StockDelta::default()).await?;
    Ok(stock)
}

/// Records a delta for the aggregates: the change of stock, and the booked or deleted movement.
async fn record_delta(
    work: &mut Work<'_>,
    entry: &NewEntry<'_>,
    snapshot: &ProductSnapshot,
    stock: StockDelta,
) -> Result<(), db::Error> {
    let movement = entry.movement(work);
    match (entry.kind, movement, entry.reference) {
        (EntryKind::InflowReversed | EntryKind::OutflowReversed, Some(movement), Some(id)) => {
            aggregates::record_deletion(work.tx, entry.product, stock, &movement, id).await
        }
        (_, movement, _) => aggregates::record(work.tx, snapshot, stock, movement.as_ref()).await,
    }
}
