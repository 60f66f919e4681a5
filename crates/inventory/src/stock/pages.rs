//! The pages about stock: movements, receiving, counting and adjusting, and paid orders.

use super::{adjustments, counts, movements, orders, receiving};
use crate::page::routes::PageRouter;

/// The pages about stock.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .merge(movements::pages::routes(movements::Movement::Inflow))
        .merge(movements::pages::routes(movements::Movement::Outflow))
        .merge(orders::pages::routes())
        .merge(receiving::pages::routes())
        .merge(counts::pages::routes())
        .merge(adjustments::pages::routes())
}
