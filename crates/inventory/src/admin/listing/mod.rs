//! The query of a list: search, order, filters, dates and page. Parsed from the query string, and
//! written into the links of the page. [`in_memory`] evaluates the query for lists that are loaded
//! completely; the list engine (`crate::listing`) does it for the others.

mod dates;
pub(super) mod in_memory;
mod parameters;

pub(super) use dates::{DateLink, Dates, links};
pub(super) use parameters::{InvalidParameters, ListParameters, PER_PAGE, SHOW_ALL};
