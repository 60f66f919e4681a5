//! The ledger of the whole shop, newest first, filtered by products and days, for the
//! administration. A page costs the same at ten million rows: it is read in order from an index,
//! and counts are bounded.

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

/// Which entries are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LedgerFilter {
    /// Those of these products; none: of all.
    pub(crate) products: Option<Vec<i64>>,
    /// From this moment on, and before this one.
    pub(crate) between: Option<(Timestamp, Timestamp)>,
    /// The oldest first.
    pub(crate) is_oldest_first: bool,
}

/// A part of the entries, and how many there are, of which no more than `most` are counted.
pub(crate) async fn list(
    state: &State,
    filter: LedgerFilter,
    part: PageRange,
    most: i64,
) -> Result<Matches<LedgerEntry>, Refusal> {
    let selection = filter.selection();
    let read = async move |conn: &mut Conn| selection.part_of_many(conn, part, most).await;
    Ok(state.db.read(read).await?)
}

/// One entry.
pub(crate) async fn read(state: &State, id: i64) -> Result<Option<LedgerEntry>, Refusal> {
    let read = async move |conn: &mut Conn| store::LIST.find(conn, id).await;
    Ok(state.db.read(read).await?)
}

/// The moments of the first and the last entry.
pub(crate) async fn span(state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
    Ok(state
        .db
        .read(async |conn| store::LIST.span(conn).await)
        .await?)
}
