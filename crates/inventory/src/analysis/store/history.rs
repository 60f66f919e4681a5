//! SQL for the history of products: when they were sold, and when they were out of stock. Each
//! query is one statement for all products and uses the indexes on product and time, so its
//! duration does not depend on the size of the shop.

use db::{Conn, Engine, Error, Query, Row, Timestamp};

use super::{super::restock_terms::RestockTerms, terms};

/// A product with the fields that analyses need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnalysedProduct {
    pub(crate) id: i64,
    pub(crate) title: String,
    pub(crate) quantity: i64,
    pub(crate) threshold: Option<i64>,
    pub(crate) is_archived: bool,
    pub(crate) terms: RestockTerms,
}

/// The units of a product that were sold on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DaySales {
    pub(crate) product: i64,
    /// Days before today. Today is 0.
    pub(crate) days_ago: i64,
    pub(crate) units: i64,
}

/// The beginning of a product's history, and its sales in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SalesHistory {
    pub(crate) product: i64,
    pub(crate) units: i64,
    /// The time of the first movement. An opening balance of 0 does not count.
    pub(crate) first: Option<Timestamp>,
}

/// A period without stock. `to` is `None` while it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StockOut {
    pub(crate) from: Timestamp,
    pub(crate) to: Option<Timestamp>,
}

/// The units of an outflow, capped so that their sum fits into 64 bits.
macro_rules! units {
    () => {
        "CASE WHEN quantity < 1000000000000 THEN quantity ELSE 1000000000000 END"
    };
}

/// The columns of an [`AnalysedProduct`].
macro_rules! analysed {
    () => {
        "p.id, p.title, s.quantity, s.threshold, s.archived_at IS NOT NULL,
         t.lead_time, t.lead_time_deviation, t.service_level, t.review_interval, t.pack_multiple"
    };
}
pub(super) use analysed;

impl AnalysedProduct {
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self, Error> {
        Ok(Self {
            id: row.get(0)?,
            title: row.get(1)?,
            quantity: row.get(2)?,
            threshold: row.get(3)?,
            is_archived: row.get(4)?,
            terms: terms::of_row(row, 5)?,
        })
    }
}

pub(crate) async fn product(conn: &mut Conn, id: i64) -> Result<Option<AnalysedProduct>, Error> {
    Ok(products(conn, &[id]).await?.pop())
}

/// Products by id, ordered by id.
pub(crate) async fn products(conn: &mut Conn, ids: &[i64]) -> Result<Vec<AnalysedProduct>, Error> {
    let mut query = Query::new(concat!(
        "SELECT ",
        analysed!(),
        " FROM products AS p JOIN product_stock AS s ON s.product_id = p.id
         LEFT JOIN restock_terms AS t ON t.product_id = p.id
         WHERE p.id",
    ));
    query.any_of(ids.iter().copied()).push(" ORDER BY p.id");
    conn.all_of(&query, AnalysedProduct::from_row).await
}

/// The sales histories of these products. `units` counts sales since `from`.
pub(crate) async fn sales_histories(
    conn: &mut Conn,
    products: &[i64],
    from: Timestamp,
) -> Result<Vec<SalesHistory>, Error> {
    let mut query = Query::new(concat!(
        "SELECT p.id,
                (SELECT CAST(COALESCE(sum(",
        units!(),
        "), 0) AS BIGINT) FROM outflows WHERE product_id = p.id AND created_at >= ",
    ));
    query.bind(from).push(
        "),
                (SELECT created_at FROM ledger_entries WHERE product_id = p.id AND change <> 0 ORDER BY created_at, id LIMIT 1),
                (SELECT created_at FROM inflows WHERE product_id = p.id ORDER BY created_at, id LIMIT 1),
                (SELECT created_at FROM outflows WHERE product_id = p.id ORDER BY created_at, id LIMIT 1)
         FROM products AS p WHERE p.id",
    );
    query.any_of(products.iter().copied());
    conn.all_of(&query, |row| {
        // Movements may have been imported after their time, and booked in the ledger then.
        let firsts: [Option<Timestamp>; 3] = [row.get(2)?, row.get(3)?, row.get(4)?];
        Ok(SalesHistory {
            product: row.get(0)?,
            units: row.get(1)?,
            first: firsts.into_iter().flatten().min(),
        })
    })
    .await
}

/// The units of these products that were sold on each day since `from`. `end` is the last moment of
/// today.
pub(crate) async fn sold_by_day(
    conn: &mut Conn,
    products: &[i64],
    from: Timestamp,
    end: Timestamp,
) -> Result<Vec<DaySales>, Error> {
    let (before, after) = match conn.engine() {
        Engine::Sqlite => ("(", " - created_at) / 86400000000"),
        Engine::Postgres => (
            "CAST(floor(extract(epoch FROM (CAST(",
            " AS TIMESTAMPTZ) - created_at)) / 86400) AS BIGINT)",
        ),
    };
    let mut query = Query::new("SELECT product_id, ");
    query.push(before).bind(end).push(after).push(concat!(
        ", CAST(sum(",
        units!(),
        ") AS BIGINT) FROM outflows WHERE created_at >= "
    ));
    query.bind(from).push(" AND product_id");
    query
        .any_of(products.iter().copied())
        .push(" GROUP BY 1, 2");
    conn.all_of(&query, |row| {
        Ok(DaySales {
            product: row.get(0)?,
            days_ago: row.get(1)?,
            units: row.get(2)?,
        })
    })
    .await
}

/// The stock-outs of these products that overlap the time since `from`, with the product id. None
/// of those before the last opening of a product that was deleted and imported again.
pub(crate) async fn stock_outs(
    conn: &mut Conn,
    products: &[i64],
    from: Timestamp,
    limit: i64,
) -> Result<Vec<(i64, StockOut)>, Error> {
    let mut query = Query::new(
        "SELECT e.product_id, e.created_at,
                (SELECT n.created_at FROM ledger_entries AS n
                 WHERE n.product_id = e.product_id AND (n.created_at, n.id) > (e.created_at, e.id)
                 ORDER BY n.created_at, n.id LIMIT 1)
         FROM products AS p",
    );
    query.push(conn.engine().join_in_order()).push(
        "ledger_entries AS e
             ON e.product_id = p.id AND e.balance_after = 0
                AND e.id >= (SELECT max(o.id) FROM ledger_entries AS o WHERE o.product_id = p.id AND o.kind = 'opening')
                AND e.created_at >= COALESCE((SELECT max(l.created_at) FROM ledger_entries AS l
                                              WHERE l.product_id = p.id AND l.created_at < ",
    );
    query.bind(from).push("), ").bind(from).push(") WHERE p.id");
    query
        .any_of(products.iter().copied())
        .push(" ORDER BY e.created_at, e.id LIMIT ")
        .bind(limit);
    conn.all_of(&query, |row| {
        let stock_out = StockOut {
            from: row.get(1)?,
            to: row.get(2)?,
        };
        Ok((row.get(0)?, stock_out))
    })
    .await
}
