//! The query of a list: search, order, filters, dates and page, read from the address and written into the links of the page.
//! Lists that are read whole are searched, sorted and cut in [`in_memory`]; all others are the list engine's (`crate::listing`).

mod dates;
pub(super) mod in_memory;
mod parameters;

pub(super) use dates::{DateLink, Dates, links};
pub(super) use parameters::{InvalidParameters, ListParameters, PER_PAGE, SHOW_ALL};
