//! The level of a product's stock, low or normal, derived from its quantity and its threshold.
//! `stock` lists low products.

use resource::Titled;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The level of a product's stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// At the threshold or above.
    Normal,
    /// Below the threshold.
    Low,
}

impl Level {
    /// The level of a quantity with a threshold.
    pub const fn of(quantity: i64, threshold: i64) -> Self {
        if quantity < threshold {
            Self::Low
        } else {
            Self::Normal
        }
    }
}

/// A product below its threshold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LowStock {
    /// The product.
    pub product: Titled,
    /// Units in stock.
    #[schema(minimum = 0)]
    pub quantity: i64,
    /// The threshold that applies to the product.
    #[schema(minimum = 0)]
    pub threshold: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_below_the_threshold_is_low() {
        assert_eq!(Level::of(9, 10), Level::Low);
    }

    #[test]
    fn a_quantity_at_or_above_the_threshold_is_normal() {
        assert_eq!(Level::of(10, 10), Level::Normal);
        assert_eq!(Level::of(0, 0), Level::Normal);
    }
}
