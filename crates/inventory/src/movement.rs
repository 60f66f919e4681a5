//! The two kinds of movements, which most modules need. The records of movements are in `stock`.

use resource::{Words, stored_enum};

use crate::access::Model;

/// SQL: the id of a movement's entry in the ledger, given its kind and its id. It is the last one,
/// because an import may use the id of a deleted movement again. `+ 0` makes PostgreSQL read the few
/// entries of the id instead of scanning the whole ledger in the order of ids.
macro_rules! entry_of_movement {
    ($kind:literal, $movement:literal) => {
        concat!(
            "(SELECT max(entry.id + 0) FROM ledger_entries AS entry WHERE entry.reference_id = ",
            $movement,
            " AND entry.kind = ",
            $kind,
            ")"
        )
    };
}
pub(crate) use entry_of_movement;

stored_enum! {
    /// The kind of a movement.
    #[derive(PartialOrd, Ord)]
    pub enum Movement {
        /// Goods received from a supplier.
        Inflow = "inflow";
        /// Goods shipped out.
        Outflow = "outflow";
    }
}

impl Movement {
    /// The path segment in URLs, which is also the name of the table.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Inflow => "inflows",
            Self::Outflow => "outflows",
        }
    }

    /// The model whose permissions apply.
    pub const fn model(self) -> Model {
        match self {
            Self::Inflow => Model::Inflow,
            Self::Outflow => Model::Outflow,
        }
    }

    /// The nouns for its records.
    pub(crate) const fn words(self) -> &'static Words {
        self.model().words()
    }

    /// The change of a product's quantity by a movement of this many units.
    pub(crate) const fn change(self, quantity: i64) -> i64 {
        match self {
            Self::Inflow => quantity,
            Self::Outflow => -quantity,
        }
    }
}
