//! The kinds of ledger entries, and an entry to write.

use db::Timestamp;
use resource::choice;

use super::Explanation;
use crate::movement::Movement;

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
    /// The time of an imported movement. `None`: the time of the write.
    pub(super) imported_at: Option<Timestamp>,
    /// When the movement of a reversal was booked.
    pub(super) booked_at: Option<Timestamp>,
    /// Whether the product's opening included the movement, so that the quantity stays.
    pub(super) is_past: bool,
}
