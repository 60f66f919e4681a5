//! The ledger of the whole shop, newest first, filtered by products and days, for the administration. A page costs the same at
//! ten million rows: it is read in order from an index, and counts and searches are bounded.

#[cfg(test)]
mod plans;
mod store;

use db::{Conn, Timestamp};

use super::LedgerEntry;
use crate::{State, rest::Refusal};

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

/// What was found.
#[derive(Debug)]
pub(crate) struct LedgerPage {
    /// How many entries, of which no more than was asked for were counted.
    pub(crate) count: u64,
    /// One stretch of them.
    pub(crate) entries: Vec<LedgerEntry>,
}

/// One stretch of the entries, and how many there are, of which no more than `most` are counted.
pub(crate) async fn list(
    state: &State,
    filter: LedgerFilter,
    (limit, offset): (i64, i64),
    most: i64,
) -> Result<LedgerPage, Refusal> {
    let scope = store::EntryScope {
        products: filter.products,
        between: filter.between,
        is_oldest_first: filter.is_oldest_first,
    };
    let read = async move |conn: &mut db::Conn| {
        let count = store::count(conn, &scope, most).await?;
        let entries = store::select(conn, &scope, limit, offset).await?;
        Ok::<_, db::Error>((count, entries))
    };
    let (count, entries) = state.db.read(read).await?;
    Ok(LedgerPage { count, entries })
}

/// One entry.
pub(crate) async fn read(state: &State, id: i64) -> Result<Option<LedgerEntry>, Refusal> {
    let read = async move |conn: &mut Conn| store::find(conn, id).await;
    Ok(state.db.read(read).await?)
}

/// The moments of the first and the last entry.
pub(crate) async fn span(state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
    Ok(state.db.read(async |conn| store::span(conn).await).await?)
}
