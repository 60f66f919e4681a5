//! The two kinds of movements, which most modules need. The records of movements are in `stock`.

use resource::{Words, stored_enum};

use crate::access::Model;

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
