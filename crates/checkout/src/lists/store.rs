//! The SQL of lists: their filters, pages and counts.

use std::collections::BTreeMap;

use db::{Conn, Engine, Error, Query, Timestamp, Tx};

use super::{Bucket, ListKind, ListRequest, PagePosition, start};

/// The rows that a list shows.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    pub(crate) list: ListKind,
    pub(crate) status: Option<&'static str>,
    /// Of payments only.
    pub(crate) method: Option<&'static str>,
    /// The shop's order number. For orders only.
    pub(crate) reference: Option<String>,
    /// The earliest time of creation, inclusive.
    pub(crate) from: Timestamp,
    /// The latest time of creation, exclusive.
    pub(crate) before: Timestamp,
}

/// The primary key of a day count: list, day, status, method.
type Key = (String, i64, String, String);

impl PagePosition {
    /// Adds a condition that selects the ids of a page from an index, for a `WHERE` of the list's
    /// own table. The outer statement joins the other tables.
    pub(crate) fn push_page(&self, query: &mut Query, request: &ListRequest) {
        let filter = &request.filter;
        filter.push(query, filter.from, self.before);
        query
            .push(" ORDER BY created_at DESC, id DESC LIMIT ")
            .bind(request.page_size);
        query.push(" OFFSET ").bind(self.offset);
    }
}

impl Filter {
    fn push(&self, query: &mut Query, from: Timestamp, before: Timestamp) {
        query.push(" AND created_at >= ").bind(from);
        query.push(" AND created_at < ").bind(before);
        if let Some(status) = self.status {
            let column = match self.list {
                ListKind::Payments => " AND state = ",
                ListKind::Orders => " AND status = ",
            };
            query.push(column).bind(status);
        }
        if let Some(method) = self.method {
            query.push(" AND method = ").bind(method);
        }
        if let Some(reference) = &self.reference {
            query.push(" AND reference = ").bind(reference.as_str());
        }
    }

    fn push_days(&self, query: &mut Query, first: i64, end: i64) {
        let list = match self.list {
            ListKind::Payments => "payments",
            ListKind::Orders => "orders",
        };
        query.push(" WHERE list = ").bind(list);
        query.push(" AND day >= ").bind(first);
        query.push(" AND day < ").bind(end);
        if let Some(status) = self.status {
            query.push(" AND status = ").bind(status);
        }
        if let Some(method) = self.method {
            query.push(" AND method = ").bind(method);
        }
    }
}

/// The number of matching rows created from `from` on and before `before`.
pub(super) async fn count(
    conn: &mut Conn,
    filter: &Filter,
    from: Timestamp,
    before: Timestamp,
) -> Result<Bucket, Error> {
    if from >= before {
        return Ok(Bucket { before, rows: 0 });
    }
    let mut query = Query::new(match filter.list {
        ListKind::Payments => "SELECT count(*) FROM payments WHERE TRUE",
        ListKind::Orders => "SELECT count(*) FROM orders WHERE TRUE",
    });
    filter.push(&mut query, from, before);
    let rows = conn.one_of(&query, |row| row.get(0)).await?;
    Ok(Bucket { before, rows })
}

/// The number of matching rows of each whole day, from the day before `end` back to `first`.
pub(super) async fn count_days(
    conn: &mut Conn,
    filter: &Filter,
    first: i64,
    end: i64,
) -> Result<Vec<Bucket>, Error> {
    let mut query = Query::new(
        "SELECT day, CAST(sum(counted) AS BIGINT) FROM (SELECT day, counted FROM day_counts",
    );
    filter.push_days(&mut query, first, end);
    query.push(" UNION ALL SELECT day, counted FROM day_count_changes");
    filter.push_days(&mut query, first, end);
    query.push(") AS counts GROUP BY day ORDER BY day DESC");
    conn.all_of(&query, |row| {
        Ok(Bucket {
            before: start(row.get::<i64>(0)? + 1),
            rows: row.get(1)?,
        })
    })
    .await
}

/// Whether any delta is not yet added to its day count.
pub(super) async fn has_deltas(conn: &mut Conn) -> Result<bool, Error> {
    let sql = "SELECT id FROM day_count_changes LIMIT 1";
    let found = conn.optional(sql, &[], |row| row.get::<i64>(0)).await?;
    Ok(found.is_some())
}

/// Adds at most `limit` deltas to their day counts. Returns how many there were.
pub(super) async fn compact(tx: &mut Tx, limit: i64) -> Result<usize, Error> {
    let sql = match tx.engine() {
        Engine::Sqlite => {
            "DELETE FROM day_count_changes WHERE id IN (SELECT id FROM day_count_changes ORDER BY id LIMIT $1)
             RETURNING list, day, status, method, counted"
        }
        Engine::Postgres => {
            "DELETE FROM day_count_changes
             WHERE id IN (SELECT id FROM day_count_changes ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
             RETURNING list, day, status, method, counted"
        }
    };
    let deltas = tx
        .all(sql, &[&limit], |row| {
            let key: Key = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok((key, row.get::<i64>(4)?))
        })
        .await?;
    let mut sums = BTreeMap::new();
    for (key, counted) in &deltas {
        *sums.entry(key).or_insert(0) += counted;
    }
    // In key order, so that two processes that compact do not deadlock.
    for ((list, day, status, method), counted) in sums {
        tx.execute(
            "INSERT INTO day_counts (list, day, status, method, counted) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (list, day, status, method) DO UPDATE SET counted = day_counts.counted + excluded.counted",
            &[list, day, status, method, &counted],
        )
        .await?;
    }
    Ok(deltas.len())
}
