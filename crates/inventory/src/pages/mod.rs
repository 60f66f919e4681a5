//! The pages of catalogue, stock, analyses and events. Their common parts are in `page`; the data
//! and the rules are in the modules of the records.

mod adjustments;
pub(crate) mod analysis;
mod counts;
mod documents;
mod events;
mod movements;
mod named;
pub(crate) mod orders;
mod products;
mod receiving;

use crate::{catalogue::named::Kind, movement::Movement, page::routes::PageRouter};

pub(crate) fn routes() -> PageRouter {
    Kind::ALL
        .into_iter()
        .fold(products::routes(), |router, kind| {
            router.merge(named::routes(kind))
        })
        .merge(movements::routes(Movement::Inflow))
        .merge(movements::routes(Movement::Outflow))
        .merge(orders::routes())
        .merge(receiving::routes())
        .merge(counts::routes())
        .merge(adjustments::routes())
        .merge(analysis::routes())
        .merge(events::routes())
}
