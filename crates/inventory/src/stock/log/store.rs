//! Statements about the ledger of the whole shop.

use db::{Conn, Error, Query, Timestamp, span_of};
use resource::Record as _;

use crate::stock::LedgerEntry;

/// The rows that are asked for.
pub(super) struct EntryScope {
    /// Of these products; none: of all.
    pub(super) products: Option<Vec<i64>>,
    pub(super) between: Option<(Timestamp, Timestamp)>,
    pub(super) is_oldest_first: bool,
}

/// The columns of a [`LedgerEntry`].
macro_rules! entries {
    ($from:literal) => {
        concat!(
            "SELECT l.id, l.product_id, p.title, l.kind, l.change, l.balance_after, l.reference_id, l.user_name, l.created_at, l.reason, l.note FROM ",
            $from
        )
    };
}

impl EntryScope {
    fn order(&self) -> &'static str {
        if self.is_oldest_first {
            " ORDER BY created_at, id LIMIT "
        } else {
            " ORDER BY created_at DESC, id DESC LIMIT "
        }
    }

    fn push_days(&self, query: &mut Query) {
        if let Some((from, until)) = self.between {
            query
                .push(" AND created_at >= ")
                .bind(from)
                .push(" AND created_at < ")
                .bind(until);
        }
    }

    /// The first rows in their order: of all, or the first of each product, which come from its own index.
    fn push_first(&self, query: &mut Query, first: i64) {
        let Some(products) = &self.products else {
            query.push("SELECT id, created_at FROM ledger_entries WHERE TRUE");
            self.push_days(query);
            query.push(self.order()).bind(first);
            return;
        };
        for (place, product) in products.iter().enumerate() {
            query
                .push(if place == 0 { "" } else { " UNION ALL " })
                .push("SELECT id, created_at FROM (SELECT id, created_at FROM ledger_entries WHERE product_id = ")
                .bind(*product);
            self.push_days(query);
            query.push(self.order()).bind(first).push(") AS of_product");
        }
    }

    fn has_nothing(&self) -> bool {
        self.products.as_ref().is_some_and(Vec::is_empty)
    }

    /// The statement that gives a stretch of the rows, behind what `query` begins with.
    pub(super) fn statement(&self, mut query: Query, limit: i64, offset: i64) -> Query {
        query.push(entries!("(SELECT id FROM ("));
        self.push_first(&mut query, limit.saturating_add(offset));
        query
            .push(") AS found")
            .push(self.order())
            .bind(limit)
            .push(" OFFSET ")
            .bind(offset)
            .push(
                ") AS page JOIN ledger_entries AS l ON l.id = page.id LEFT JOIN products AS p ON p.id = l.product_id",
            )
            .push(if self.is_oldest_first {
                " ORDER BY l.created_at, l.id"
            } else {
                " ORDER BY l.created_at DESC, l.id DESC"
            });
        query
    }
}

/// How many rows there are; counting stops at `most`.
pub(super) async fn count(conn: &mut Conn, scope: &EntryScope, most: i64) -> Result<u64, Error> {
    if scope.has_nothing() {
        return Ok(0);
    }
    let mut query = Query::new("SELECT count(*) FROM (SELECT id FROM ledger_entries WHERE TRUE");
    for (place, product) in scope.products.iter().flatten().enumerate() {
        query
            .push(if place == 0 {
                " AND product_id IN ("
            } else {
                ", "
            })
            .bind(*product);
    }
    query.push(if scope.products.is_some() { ")" } else { "" });
    scope.push_days(&mut query);
    query.push(" LIMIT ").bind(most).push(") AS counted");
    conn.one_of(&query, |row| row.get::<i64>(0))
        .await
        .map(i64::unsigned_abs)
}

/// A stretch of the rows.
pub(super) async fn select(
    conn: &mut Conn,
    scope: &EntryScope,
    limit: i64,
    offset: i64,
) -> Result<Vec<LedgerEntry>, Error> {
    if scope.has_nothing() {
        return Ok(Vec::new());
    }
    let query = scope.statement(Query::new(""), limit, offset);
    conn.all_of(&query, LedgerEntry::from_row).await
}

/// One row.
pub(super) async fn find(conn: &mut Conn, id: i64) -> Result<Option<LedgerEntry>, Error> {
    let sql = entries!(
        "ledger_entries AS l LEFT JOIN products AS p ON p.id = l.product_id WHERE l.id = $1"
    );
    conn.optional(sql, &[&id], LedgerEntry::from_row).await
}

/// The moments of the first and the last row.
pub(super) async fn span(conn: &mut Conn) -> Result<Option<(Timestamp, Timestamp)>, Error> {
    let sql = "SELECT min(created_at), max(created_at) FROM ledger_entries";
    conn.one(sql, &[], span_of).await
}
