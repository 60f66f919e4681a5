//! The query of a list: search, order, filters, dates and page. Parsed from the query string, and
//! written into the links of the page.

mod dates;
mod parameters;

pub(super) use dates::{DateLink, Dates, links};
pub(super) use parameters::{InvalidParameters, ListParameters, PER_PAGE, SHOW_ALL};
