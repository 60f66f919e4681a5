//! When a product's stock is low. `stock` lists low products.

use resource::Titled;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whether a quantity is low: below its threshold.
pub(crate) const fn is_low(quantity: i64, threshold: i64) -> bool {
    quantity < threshold
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
