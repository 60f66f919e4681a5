//! The ledger of the whole shop, newest first, filtered by products and days, for the
//! administration. Pages are read in index order and counts are bounded, so the duration does not
//! depend on the number of entries.

#[cfg(test)]
mod plans;
mod store;

use db::{Conn, Timestamp};

use super::LedgerEntry;
use crate::{
    State,
    listing::{Matches, PageRange},
    rest::Refusal,
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LedgerFilter {
    /// Only entries of these products. `None` means all.
    pub(crate) products: Option<Vec<i64>>,
    /// Start (inclusive) and end (exclusive) of the period.
    pub(crate) between: Option<(Timestamp, Timestamp)>,
    pub(crate) is_oldest_first: bool,
}

/// A range of the entries, and their number, which is counted up to `most`.
pub(crate) async fn list(
    state: &State,
    filter: LedgerFilter,
    range: PageRange,
    most: i64,
) -> Result<Matches<LedgerEntry>, Refusal> {
    let selection = filter.selection();
    let read = async move |conn: &mut Conn| selection.part_of_many(conn, range, most).await;
    Ok(state.db.read(read).await?)
}

pub(crate) async fn read(state: &State, id: i64) -> Result<Option<LedgerEntry>, Refusal> {
    let read = async move |conn: &mut Conn| store::LIST.find(conn, id).await;
    Ok(state.db.read(read).await?)
}

/// The times of the first and the last entry.
pub(crate) async fn span(state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
    store::LIST.span(state).await
}
