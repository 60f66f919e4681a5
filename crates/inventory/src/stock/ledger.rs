//! The ledger: every change of a quantity is one immutable row, and rows are made here only.
//! At every commit a product's quantity is the sum of its changes.

use db::{Timestamp, Tx};
use resource::choice;

use super::{Changed, Explanation, Held, Impossible, movements::Movement, store};
use crate::{
    access::Actor,
    aggregates::{self, MovementDelta, ProductSnapshot, StockDelta},
};

choice! {
    /// What a change came from.
    pub enum Kind {
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

impl Kind {
    /// What kind of movement its reference is.
    pub const fn reference_type(self) -> Option<&'static str> {
        match self {
            Self::Inflow | Self::InflowReversed => Some("inflow"),
            Self::Outflow | Self::OutflowReversed => Some("outflow"),
            Self::Opening | Self::Adjustment => None,
        }
    }
}

/// A change to be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) product: i64,
    pub(super) kind: Kind,
    pub(super) change: i64,
    /// The movement's id.
    pub(super) reference: Option<i64>,
    /// Who delivered; of inflows.
    pub(super) supplier: Option<i64>,
    /// Why; of adjustments.
    pub(super) explanation: Option<&'a Explanation>,
    /// When the movement was booked, which is before `now` when it is deleted.
    pub(super) booked_at: Timestamp,
    pub(super) actor: &'a Actor,
    pub(super) now: Timestamp,
}

impl Entry<'_> {
    /// The movement that this speaks of.
    const fn movement_delta(&self) -> Option<MovementDelta> {
        let movement = match self.kind {
            Kind::Inflow | Kind::InflowReversed => Movement::Inflow,
            Kind::Outflow | Kind::OutflowReversed => Movement::Outflow,
            Kind::Opening | Kind::Adjustment => return None,
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

/// Records a movement that a product's opening counts already: its row, and beside it an adjustment that cancels it. The one that adds
/// comes first, so no balance falls below zero.
pub(super) async fn record_past(
    tx: &mut Tx,
    entry: &Entry<'_>,
) -> Result<Result<(), Impossible>, db::Error> {
    let Some(Held { quantity, .. }) = store::lock_quantity(tx, entry.product).await? else {
        return Ok(Err(Impossible::NoProduct));
    };
    let Some(most) = quantity.checked_add(entry.change.abs()) else {
        return Ok(Err(Impossible::TooMany(quantity)));
    };
    let cancelling = Entry {
        kind: Kind::Adjustment,
        change: -entry.change,
        reference: None,
        ..*entry
    };
    let (adding, taking) = if entry.change > 0 {
        (entry, &cancelling)
    } else {
        (&cancelling, entry)
    };
    let Some(product) = aggregates::product_snapshot(tx, entry.product).await? else {
        return Ok(Err(Impossible::NoProduct));
    };
    store::insert_entry(tx, adding, most, product.prices()).await?;
    store::insert_entry(tx, taking, quantity, product.prices()).await?;
    // The quantity is what it was; the movement counts for its day.
    record_delta(tx, entry, &product, StockDelta::default()).await?;
    Ok(Ok(()))
}

/// Counts a change in the aggregates: what it did on the stock, and the movement that came or went with it.
async fn record_delta(
    tx: &mut Tx,
    entry: &Entry<'_>,
    product: &ProductSnapshot,
    stock: StockDelta,
) -> Result<(), db::Error> {
    match (entry.kind, entry.movement_delta(), entry.reference) {
        (Kind::InflowReversed | Kind::OutflowReversed, Some(movement), Some(id)) => {
            aggregates::record_deletion(tx, entry.product, stock, &movement, id).await
        }
        (_, movement, _) => aggregates::record(tx, product, stock, movement.as_ref()).await,
    }
}

/// Changes a quantity and writes the row that says so, or neither.
pub(super) async fn apply(
    tx: &mut Tx,
    entry: &Entry<'_>,
) -> Result<Result<Changed, Impossible>, db::Error> {
    let may_be_archived = !matches!(entry.kind, Kind::Inflow | Kind::Outflow);
    let (product, change) = (entry.product, entry.change);
    let Some(held) =
        store::change_quantity(tx, product, change, may_be_archived, entry.now).await?
    else {
        return Ok(Err(match store::lock_quantity(tx, product).await? {
            None => Impossible::NoProduct,
            Some(held) if held.is_archived && !may_be_archived => Impossible::Archived,
            Some(held) if change < 0 => Impossible::Insufficient(held.quantity),
            Some(held) => Impossible::TooMany(held.quantity),
        }));
    };
    // Whoever changes its prices holds the stock row, which is held here now.
    let Some(product) = aggregates::product_snapshot(tx, entry.product).await? else {
        return Ok(Err(Impossible::NoProduct));
    };
    store::insert_entry(tx, entry, held.quantity, product.prices()).await?;
    let before = Held {
        quantity: held.quantity - entry.change,
        ..held
    };
    // A product is counted from its opening on.
    let was_low = entry.kind != Kind::Opening && before.is_low();
    let stock = StockDelta {
        units: entry.change,
        low: i64::from(held.is_low()) - i64::from(was_low),
    };
    record_delta(tx, entry, &product, stock).await?;
    Ok(Ok(Changed {
        before: before.quantity,
        after: held.quantity,
        threshold: held.threshold,
        is_archived: held.is_archived,
    }))
}
