//! Which way goods move: a word that most rooms need. What is kept of a movement is in `stock`.

use resource::Words;

use crate::access::Model;

/// Which way goods move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Movement {
    /// Goods received from a supplier.
    Inflow,
    /// Goods shipped out.
    Outflow,
}

impl Movement {
    /// What one is called in messages.
    pub const fn name(self) -> &'static str {
        self.model().code()
    }

    /// Its place in addresses, and its table.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Inflow => "inflows",
            Self::Outflow => "outflows",
        }
    }

    /// Whose permissions count.
    pub const fn model(self) -> Model {
        match self {
            Self::Inflow => Model::Inflow,
            Self::Outflow => Model::Outflow,
        }
    }

    /// What its records are called.
    pub(crate) const fn words(self) -> &'static Words {
        self.model().words()
    }

    /// What a movement of so many units does to the product's quantity.
    pub(crate) const fn change(self, quantity: i64) -> i64 {
        match self {
            Self::Inflow => quantity,
            Self::Outflow => -quantity,
        }
    }
}
