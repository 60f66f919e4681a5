//! What a list is asked for: search, order, filters, dates and page, read from the address and written into the links of the page.
//! Lists that fit into memory are searched, sorted and cut in [`shelf`]; the others by the service functions that know their indexes.

mod asked;
mod dates;
pub(super) mod shelf;

pub(super) use asked::{Asked, Incorrect, PER_PAGE, SHOW_ALL};
pub(super) use dates::{DateLink, Dates, links};
