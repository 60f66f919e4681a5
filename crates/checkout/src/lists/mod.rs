//! Lists of payments and of orders, newest first: the rows of a page, and the total.
//!
//! Counting or skipping millions of rows takes too long. So triggers count the rows of each day as
//! they are written (`day_counts`), and a page is read from the day where it begins.

mod query;
mod store;
mod worker;

use db::{Conn, Error, Timestamp};

pub(crate) use query::{
    List, PageRequest, common_parameters, filter_parameter, page_links, page_request, query_value,
};
pub(crate) use store::Filter;
pub use worker::compact;
pub(crate) use worker::run;

/// 0001-01-01 and 9999-12-31, in microseconds since 1970: what both engines can hold.
pub(crate) const EARLIEST: Timestamp = Timestamp::from_micros(-62_135_596_800_000_000);
pub(crate) const LATEST: Timestamp = Timestamp::from_micros(253_402_214_400_000_000);

/// Microseconds of a day in UTC.
const DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// The kinds of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    Payments,
    Orders,
}

/// Where a page begins, and how many rows there are in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PagePosition {
    pub(crate) count: i64,
    /// The page's rows were made before this.
    before: Timestamp,
    /// So many of the rows before this are of earlier pages: fewer than a day has.
    offset: i64,
}

/// The rows of one day, or of a part of one.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    before: Timestamp,
    rows: i64,
}

/// The page that begins after the first `offset` rows. Three statements at most.
pub(crate) async fn find_page(
    conn: &mut Conn,
    filter: &Filter,
    offset: i64,
) -> Result<PagePosition, Error> {
    // Whole days are counted already. What is left of the span's first and last day is not, nor is
    // what a reference names: one row.
    let first = filter.from.micros().saturating_add(DAY - 1).div_euclid(DAY);
    let end = filter.before.micros().div_euclid(DAY);
    let mut buckets = Vec::new();
    if filter.reference.is_some() || first >= end {
        let rows = store::count(conn, filter, filter.from, filter.before).await?;
        let before = filter.before;
        buckets.push(Bucket { before, rows });
    } else {
        let (first_day, last_day) = (start(first), start(end));
        let rows = store::count(conn, filter, last_day, filter.before).await?;
        let before = filter.before;
        buckets.push(Bucket { before, rows });
        for (day, rows) in store::count_days(conn, filter, first, end).await? {
            let before = start(day + 1);
            buckets.push(Bucket { before, rows });
        }
        let rows = store::count(conn, filter, filter.from, first_day).await?;
        let before = first_day;
        buckets.push(Bucket { before, rows });
    }
    Ok(PagePosition::among(&buckets, filter.from, offset))
}

/// The first moment of a day.
const fn start(day: i64) -> Timestamp {
    Timestamp::from_micros(day.saturating_mul(DAY))
}

impl PagePosition {
    fn among(buckets: &[Bucket], from: Timestamp, offset: i64) -> Self {
        let count = buckets.iter().map(|bucket| bucket.rows).sum();
        let mut offset = offset;
        for Bucket { before, rows } in buckets {
            if offset < *rows {
                let before = *before;
                return Self {
                    count,
                    before,
                    offset,
                };
            }
            offset -= rows;
        }
        // Behind the last row there is nothing.
        Self {
            count,
            before: from,
            offset: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(offset: i64) -> (i64, i64) {
        let buckets = [(30, 2), (20, 0), (10, 3)].map(|(before, rows)| Bucket {
            before: Timestamp::from_micros(before),
            rows,
        });
        let place = PagePosition::among(&buckets, Timestamp::from_micros(5), offset);
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
