//! Lists of payments and of orders, newest first: the rows of a page, and the total number.
//!
//! Counting or skipping millions of rows takes too long. So triggers count the rows of each day as
//! they are written (`day_counts`), and a page is read from the day on which it begins.

mod query;
mod store;

use std::time::Duration;

use db::{Conn, Db, Error, Timestamp};
use tokio::time::timeout;
use web::server::Shutdown;

pub(crate) use query::{
    ListRequest, common_parameters, filter_parameter, page_links, query_value, request,
};
pub(crate) use store::Filter;

/// 0001-01-01 and 9999-12-31, in microseconds since 1970: the range of both databases.
pub(crate) const EARLIEST: Timestamp = Timestamp::from_micros(-62_135_596_800_000_000);
pub(crate) const LATEST: Timestamp = Timestamp::from_micros(253_402_214_400_000_000);

/// Microseconds of a day in UTC.
const DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// The interval of compactions. Each list request sums the pending deltas, so there must be few.
const EVERY: Duration = Duration::from_secs(10);
/// Deltas of one transaction.
const BATCH: i64 = 1000;

/// The kinds of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    Payments,
    Orders,
}

impl ListKind {
    /// The list's path.
    const fn path(self) -> &'static str {
        match self {
            Self::Payments => "/payments/",
            Self::Orders => "/orders/",
        }
    }

    /// The query parameters that the list has besides those of every list.
    const fn filters(self) -> [&'static str; 2] {
        match self {
            Self::Payments => ["status", "payment_method"],
            Self::Orders => ["status", "reference"],
        }
    }
}

/// Where a page begins, and the total number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PagePosition {
    pub(crate) count: i64,
    /// The rows of the page were created before this time.
    before: Timestamp,
    /// How many of the rows before that time belong to earlier pages. Less than the rows of one
    /// day.
    offset: i64,
}

/// One page of a list.
#[derive(Debug)]
pub(crate) struct ListPage<T> {
    /// The number of all matching rows.
    pub(crate) count: i64,
    /// The rows of this page, newest first.
    pub(crate) rows: Vec<T>,
}

/// The number of rows of one day, or of a part of a day.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    before: Timestamp,
    rows: i64,
}

/// The position of the page that begins after the first `offset` rows. Needs at most three
/// statements.
pub(crate) async fn find_page(
    conn: &mut Conn,
    filter: &Filter,
    offset: i64,
) -> Result<PagePosition, Error> {
    // Whole days are counted in advance. Rows are counted for the partial first and last day of the
    // range, and for a reference, which has one row.
    let first = filter.from.micros().saturating_add(DAY - 1).div_euclid(DAY);
    let end = filter.before.micros().div_euclid(DAY);
    let mut buckets = Vec::new();
    if filter.reference.is_some() || first >= end {
        buckets.push(store::count(conn, filter, filter.from, filter.before).await?);
    } else {
        buckets.push(store::count(conn, filter, start(end), filter.before).await?);
        buckets.extend(store::count_days(conn, filter, first, end).await?);
        buckets.push(store::count(conn, filter, filter.from, start(first)).await?);
    }
    Ok(PagePosition::in_buckets(&buckets, filter.from, offset))
}

/// The first moment of a day.
const fn start(day: i64) -> Timestamp {
    Timestamp::from_micros(day.saturating_mul(DAY))
}

impl PagePosition {
    fn in_buckets(buckets: &[Bucket], from: Timestamp, offset: i64) -> Self {
        let count = buckets.iter().map(|bucket| bucket.rows).sum();
        let mut offset = offset;
        for &Bucket { before, rows } in buckets {
            if offset < rows {
                return Self {
                    count,
                    before,
                    offset,
                };
            }
            offset -= rows;
        }
        // The offset is after the last row, so the page is empty.
        Self {
            count,
            before: from,
            offset: 0,
        }
    }
}

/// Compacts the deltas of day counts until the service stops. Any number of these workers may run at
/// once, in any number of processes.
pub(crate) async fn run(db: Db, shutdown: Shutdown) {
    loop {
        if let Err(error) = compact(&db).await {
            tracing::warn!(%error, "lists: compacting the day counts failed, retrying in 10 s; until then lists are slower, their counts stay right");
        }
        if timeout(EVERY, shutdown.begun()).await.is_ok() {
            return;
        }
    }
}

/// Adds all deltas to their day counts. Without deltas it costs one read.
pub async fn compact(db: &Db) -> Result<(), Error> {
    if db.read(store::has_deltas).await? {
        while db.write(async |tx| store::compact(tx, BATCH).await).await? > 0 {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(offset: i64) -> (i64, i64) {
        let buckets = [(30, 2), (20, 0), (10, 3)].map(|(before, rows)| Bucket {
            before: Timestamp::from_micros(before),
            rows,
        });
        let place = PagePosition::in_buckets(&buckets, Timestamp::from_micros(5), offset);
        assert_eq!(place.count, 5);
        (place.before.micros(), place.offset)
    }

    #[test]
    fn a_page_is_looked_for_in_the_day_where_it_begins() {
        assert_eq!(place(0), (30, 0));
        assert_eq!(place(1), (30, 1));
        assert_eq!(place(2), (10, 0));
        assert_eq!(place(4), (10, 2));
    }

    #[test]
    fn behind_the_last_row_is_nothing() {
        assert_eq!(place(5), (5, 0));
        assert_eq!(place(i64::MAX), (5, 0));
    }
}
