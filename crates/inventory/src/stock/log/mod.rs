//! The ledger of the whole shop, newest first, filtered by products and days, for the administration. A page costs the same at
//! ten million rows: it is read in order from an index, and counts and searches are bounded.

#[cfg(test)]
mod plans;
mod store;

use db::{Conn, Timestamp};

use super::LedgerEntry;
use crate::{State, catalogue::products, rest::Refusal};

/// Which entries are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LedgerFilter {
    /// Those of one product.
    pub(crate) product: Option<i64>,
    /// Those of products that these words find; blank: of all.
    pub(crate) titled: String,
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
    /// Whether more products were found by their words than were looked at.
    pub(crate) is_cut: bool,
}

/// One stretch of the entries, and how many there are, of which no more than `most` are counted.
pub(crate) async fn list(
    state: &State,
    filter: LedgerFilter,
    (limit, offset): (i64, i64),
    most: i64,
) -> Result<LedgerPage, Refusal> {
    let (products, is_cut) = products_of(state, &filter).await?;
    let scope = store::Scope {
        products,
        between: filter.between,
        is_oldest_first: filter.is_oldest_first,
    };
    let read = async move |conn: &mut db::Conn| {
        let count = store::count(conn, &scope, most).await?;
        let entries = store::select(conn, &scope, limit, offset).await?;
        Ok::<_, db::Error>((count, entries))
    };
    let (count, entries) = state.db.read(read).await?;
    Ok(LedgerPage {
        count,
        entries,
        is_cut,
    })
}

/// The products whose entries are asked for, `None` for all, and whether there are more than are looked at.
async fn products_of(
    state: &State,
    filter: &LedgerFilter,
) -> Result<(Option<Vec<i64>>, bool), Refusal> {
    if filter.titled.is_empty() {
        return Ok((filter.product.map(|product| vec![product]), false));
    }
    let (mut products, is_cut) = products::few(state, &filter.titled).await?;
    products.retain(|id| filter.product.is_none_or(|product| product == *id));
    Ok((Some(products), is_cut))
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
