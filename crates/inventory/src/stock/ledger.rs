//! The ledger: every change of a quantity is one immutable row, and only this module inserts rows.
//! At every commit, a product's quantity equals the sum of its changes.

use db::{Timestamp, Tx};
use resource::choice;

use super::{Explanation, LockedStock, QuantityChange, QuantityError, movements::Movement, store};
use crate::{
    aggregates::{self, MovementDelta, ProductSnapshot, StockDelta},
    work::Work,
};

choice! {
    /// The origin of a change.
    pub enum EntryKind {
        /// The quantity that a product was created with.
        Opening = "opening", ("Saldo inicial", "Opening");
        /// Goods received.
        Inflow = "inflow", ("Entrada", "Inflow");
        /// Goods shipped out.
        Outflow = "outflow", ("Saída", "Outflow");
        /// A quantity set directly.
        Adjustment = "adjustment", ("Ajuste", "Adjustment");
        /// The deletion of an inflow.
        InflowReversed = "inflow_reversed", ("Entrada desfeita", "Inflow undone");
        /// The deletion of an outflow.
        OutflowReversed = "outflow_reversed", ("Saída desfeita", "Outflow undone");
    }
}

impl EntryKind {
    /// The kind of movement that the entry refers to, if any.
    pub(super) const fn movement(self) -> Option<Movement> {
        match self {
            Self::Inflow | Self::InflowReversed => Some(Movement::Inflow),
            Self::Outflow | Self::OutflowReversed => Some(Movement::Outflow),
            Self::Opening | Self::Adjustment => None,
        }
    }
}

/// A change to apply.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewEntry<'a> {
    pub(super) product: i64,
    pub(super) kind: EntryKind,
    pub(super) change: i64,
    /// The id of the movement, for inflows, outflows and their reversals.
    pub(super) reference: Option<i64>,
    /// The supplier of an inflow.
    pub(super) supplier: Option<i64>,
    /// The reason for an adjustment.
    pub(super) explanation: Option<&'a Explanation>,
    /// When the movement was booked. For a reversal this is before `now`.
    pub(super) booked_at: Timestamp,
    pub(super) now: Timestamp,
}

impl NewEntry<'_> {
    /// A change at the current time without movement and explanation.
    pub(super) const fn new(work: &Work<'_>, product: i64, kind: EntryKind, change: i64) -> Self {
        Self {
            product,
            kind,
            change,
            reference: None,
            supplier: None,
            explanation: None,
            booked_at: work.now,
            now: work.now,
        }
    }

    /// The movement of this entry, for the aggregates. `None` for openings and adjustments.
    fn movement(&self) -> Option<MovementDelta> {
        Some(MovementDelta {
            movement: self.kind.movement()?,
            id: self.reference,
            supplier: self.supplier,
            at: self.booked_at,
            units: self.change.abs(),
        })
    }
}

/// Records a movement that is older than the product's opening quantity and therefore included in
/// it. Writes the movement's row and an adjustment that cancels it. The positive change comes
/// first, so that no balance falls below zero.
pub(super) async fn record_past(
    work: &mut Work<'_>,
    entry: &NewEntry<'_>,
) -> Result<Result<(), QuantityError>, db::Error> {
    let Some(stock) = store::lock_quantity(work.tx, entry.product).await? else {
        return Ok(Err(QuantityError::NoProduct));
    };
    let Some(upper_balance) = stock.quantity.checked_add(entry.change.abs()) else {
        return Ok(Err(QuantityError::TooMany(stock.quantity)));
    };
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
    let Some(snapshot) = aggregates::product_snapshot(work.tx, entry.product).await? else {
        return Ok(Err(QuantityError::NoProduct));
    };
    store::insert_entry(work, first, upper_balance, snapshot.prices()).await?;
    store::insert_entry(work, second, stock.quantity, snapshot.prices()).await?;
    // The quantity did not change, but the movement counts in its day.
    record_delta(work.tx, entry, &snapshot, StockDelta::default()).await?;
    Ok(Ok(()))
}

/// Records a delta for the aggregates: the change of stock, and the booked or deleted movement.
async fn record_delta(
    tx: &mut Tx,
    entry: &NewEntry<'_>,
    snapshot: &ProductSnapshot,
    stock: StockDelta,
) -> Result<(), db::Error> {
    match (entry.kind, entry.movement(), entry.reference) {
        (EntryKind::InflowReversed | EntryKind::OutflowReversed, Some(movement), Some(id)) => {
            aggregates::record_deletion(tx, entry.product, stock, &movement, id).await
        }
        (_, movement, _) => aggregates::record(tx, snapshot, stock, movement.as_ref()).await,
    }
}

/// Changes a quantity and writes the ledger row. If the quantity cannot be changed, writes nothing.
pub(super) async fn apply(
    work: &mut Work<'_>,
    entry: &NewEntry<'_>,
) -> Result<Result<QuantityChange, QuantityError>, db::Error> {
    let may_be_archived = !matches!(entry.kind, EntryKind::Inflow | EntryKind::Outflow);
    let (product, change) = (entry.product, entry.change);
    let Some(stock) =
        store::change_quantity(work.tx, product, change, may_be_archived, entry.now).await?
    else {
        return Ok(Err(match store::lock_quantity(work.tx, product).await? {
            None => QuantityError::NoProduct,
            Some(stock) if stock.is_archived && !may_be_archived => QuantityError::Archived,
            Some(stock) if change < 0 => QuantityError::Insufficient(stock.quantity),
            Some(stock) => QuantityError::TooMany(stock.quantity),
        }));
    };
    // The prices are consistent: every change of prices locks the stock row, which is locked now.
    let Some(snapshot) = aggregates::product_snapshot(work.tx, product).await? else {
        return Ok(Err(QuantityError::NoProduct));
    };
    store::insert_entry(work, entry, stock.quantity, snapshot.prices()).await?;
    let before = LockedStock {
        quantity: stock.quantity - change,
        ..stock
    };
    // The aggregates count the product from its opening on, so it was not low before.
    let was_low = entry.kind != EntryKind::Opening && before.is_low();
    let delta = StockDelta {
        units: change,
        low: i64::from(stock.is_low()) - i64::from(was_low),
    };
    record_delta(work.tx, entry, &snapshot, delta).await?;
    Ok(Ok(stock.into()))
}
