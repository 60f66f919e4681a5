//! The ledger: every change of a quantity is one immutable row, and rows are made here only.
//! At every commit a product's quantity is the sum of its changes.

use db::{Timestamp, Tx};
use resource::choice;

use super::{Explanation, LockedStock, QuantityChange, QuantityError, movements::Movement, store};
use crate::{
    aggregates::{self, MovementDelta, ProductSnapshot, StockDelta},
    work::Work,
};

choice! {
    /// What a change came from.
    pub enum EntryKind {
        /// The quantity that a product was created with.
        Opening = "opening", ("Saldo inicial", "Opening");
        /// Goods received.
        Inflow = "inflow", ("Entrada", "Inflow");
        /// Goods shipped out.
        Outflow = "outflow", ("Saída", "Outflow");
        /// A quantity written directly.
        Adjustment = "adjustment", ("Ajuste", "Adjustment");
        /// An inflow was deleted.
        InflowReversed = "inflow_reversed", ("Entrada desfeita", "Inflow undone");
        /// An outflow was deleted.
        OutflowReversed = "outflow_reversed", ("Saída desfeita", "Outflow undone");
    }
}

impl EntryKind {
    /// What kind of movement its reference is.
    pub const fn reference_type(self) -> Option<&'static str> {
        match self {
            Self::Inflow | Self::InflowReversed => Some("inflow"),
            Self::Outflow | Self::OutflowReversed => Some("outflow"),
            Self::Opening | Self::Adjustment => None,
        }
    }
}

/// A change to be made, by whoever does the work.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewEntry<'a> {
    pub(super) product: i64,
    pub(super) kind: EntryKind,
    pub(super) change: i64,
    /// The movement's id.
    pub(super) reference: Option<i64>,
    /// Who delivered; of inflows.
    pub(super) supplier: Option<i64>,
    /// Why; of adjustments.
    pub(super) explanation: Option<&'a Explanation>,
    /// When the movement was booked, which is before `now` when it is deleted.
    pub(super) booked_at: Timestamp,
    pub(super) now: Timestamp,
}

impl NewEntry<'_> {
    /// A change now, which comes from no movement and needs no explanation.
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

    /// The movement that this speaks of.
    const fn movement(&self) -> Option<MovementDelta> {
        let movement = match self.kind {
            EntryKind::Inflow | EntryKind::InflowReversed => Movement::Inflow,
            EntryKind::Outflow | EntryKind::OutflowReversed => Movement::Outflow,
            EntryKind::Opening | EntryKind::Adjustment => return None,
        };
        Some(MovementDelta {
            movement,
            id: self.reference,
            supplier: self.supplier,
            at: self.booked_at,
            units: self.change.abs(),
        })
    }
}

/// Records a movement that a product's opening counts already: its row, and beside it an adjustment
/// that cancels it. The one that adds comes first, so no balance falls below zero.
pub(super) async fn record_past(
    work: &mut Work<'_>,
    entry: &NewEntry<'_>,
) -> Result<Result<(), QuantityError>, db::Error> {
    let Some(stock) = store::lock_quantity(work.tx, entry.product).await? else {
        return Ok(Err(QuantityError::NoProduct));
    };
    let Some(most) = stock.quantity.checked_add(entry.change.abs()) else {
        return Ok(Err(QuantityError::TooMany(stock.quantity)));
    };
    let cancelling = NewEntry {
        kind: EntryKind::Adjustment,
        change: -entry.change,
        reference: None,
        ..*entry
    };
    let (adding, taking) = if entry.change > 0 {
        (entry, &cancelling)
    } else {
        (&cancelling, entry)
    };
    let Some(snapshot) = aggregates::product_snapshot(work.tx, entry.product).await? else {
        return Ok(Err(QuantityError::NoProduct));
    };
    store::insert_entry(work, adding, most, snapshot.prices()).await?;
    store::insert_entry(work, taking, stock.quantity, snapshot.prices()).await?;
    // The quantity is what it was; the movement counts for its day.
    record_delta(work.tx, entry, &snapshot, StockDelta::default()).await?;
    Ok(Ok(()))
}

/// Records a change for the aggregates: what it did to the stock, and the movement that came or
/// went with it.
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

/// Changes a quantity and writes the row that says so, or neither.
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
    // Whoever changes the product's prices locks the stock row, which is locked here now.
    let Some(snapshot) = aggregates::product_snapshot(work.tx, product).await? else {
        return Ok(Err(QuantityError::NoProduct));
    };
    store::insert_entry(work, entry, stock.quantity, snapshot.prices()).await?;
    let before = LockedStock {
        quantity: stock.quantity - change,
        ..stock
    };
    // A product is counted from its opening on.
    let was_low = entry.kind != EntryKind::Opening && before.is_low();
    let delta = StockDelta {
        units: change,
        low: i64::from(stock.is_low()) - i64::from(was_low),
    };
    record_delta(work.tx, entry, &snapshot, delta).await?;
    Ok(Ok(QuantityChange {
        before: before.quantity,
        after: stock.quantity,
        threshold: stock.threshold,
        is_archived: stock.is_archived,
    }))
}
