//! Statements about the past of some products: when they were sold, and when they were out of stock. Each is one statement however many
//! products there are, and goes by the indexes on product and time, so that its time does not grow with the shop.

use db::{Conn, Engine, Error, Query, Row, Timestamp};

/// A product as analyses look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) id: i64,
    pub(crate) title: String,
    pub(crate) quantity: i64,
    /// Its own threshold.
    pub(crate) threshold: Option<i64>,
    /// What is known of its supply.
    pub(crate) terms: OwnTerms,
}

/// What is known of a product's supply; what is not, the shop assumes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OwnTerms {
    /// Days.
    pub(crate) lead_time: Option<i64>,
    /// Hundredths of a day.
    pub(crate) lead_time_deviation: Option<i64>,
    /// Hundredths of a percent.
    pub(crate) service_level: Option<i64>,
    /// Days.
    pub(crate) review_interval: Option<i64>,
    /// Units.
    pub(crate) pack_multiple: Option<i64>,
}

impl OwnTerms {
    /// Those of a row whose columns have them, in the order of the fields, from `first` on.
    pub(super) fn of(row: &Row<'_>, first: usize) -> Result<Self, Error> {
        Ok(Self {
            lead_time: row.get(first)?,
            lead_time_deviation: row.get(first + 1)?,
            service_level: row.get(first + 2)?,
            review_interval: row.get(first + 3)?,
            pack_multiple: row.get(first + 4)?,
        })
    }
}

/// What went out of a product on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DaySales {
    pub(crate) product: i64,
    /// Stretches of 24 hours before the moment that was asked for; the newest is 0.
    pub(crate) days_ago: i64,
    pub(crate) units: i64,
}

/// The beginning of a product's history, and what went out since a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Past {
    pub(crate) product: i64,
    pub(crate) units: i64,
    /// When something first moved. An opening with nothing is no movement.
    pub(crate) first: Option<Timestamp>,
    /// When the ledger was opened.
    pub(crate) opened: Option<Timestamp>,
}

/// A time without stock; without an end it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Empty {
    pub(crate) from: Timestamp,
    pub(crate) to: Option<Timestamp>,
}

/// The units of an outflow as statistics add them up: no sum of them leaves 64 bits.
macro_rules! units {
    () => {
        "CASE WHEN quantity < 1000000000000 THEN quantity ELSE 1000000000000 END"
    };
}

/// One product.
pub(crate) async fn subject(conn: &mut Conn, product: i64) -> Result<Option<Subject>, Error> {
    Ok(subjects(conn, &[product]).await?.pop())
}

/// Some products, in the order of their ids.
pub(crate) async fn subjects(conn: &mut Conn, products: &[i64]) -> Result<Vec<Subject>, Error> {
    let mut query = Query::new(
        "SELECT p.id, p.title, s.quantity, s.threshold,
                t.lead_time, t.lead_time_deviation, t.service_level, t.review_interval, t.pack_multiple
         FROM products AS p JOIN product_stock AS s ON s.product_id = p.id
         LEFT JOIN restock_terms AS t ON t.product_id = p.id
         WHERE p.id",
    );
    query
        .any_of(products.iter().copied())
        .push(" ORDER BY p.id");
    conn.all_of(&query, |row| {
        Ok(Subject {
            id: row.get(0)?,
            title: row.get(1)?,
            quantity: row.get(2)?,
            threshold: row.get(3)?,
            terms: OwnTerms::of(row, 4)?,
        })
    })
    .await
}

/// The pasts of some products; units are those since a moment.
pub(crate) async fn pasts(
    conn: &mut Conn,
    products: &[i64],
    from: Timestamp,
) -> Result<Vec<Past>, Error> {
    let mut query = Query::new(concat!(
        "SELECT p.id,
                (SELECT CAST(COALESCE(sum(",
        units!(),
        "), 0) AS BIGINT) FROM outflows WHERE product_id = p.id AND created_at >= ",
    ));
    query.bind(from).push(
        "),
                (SELECT created_at FROM ledger_entries WHERE product_id = p.id AND change <> 0 ORDER BY created_at, id LIMIT 1),
                (SELECT created_at FROM outflows WHERE product_id = p.id ORDER BY created_at, id LIMIT 1),
                (SELECT created_at FROM ledger_entries WHERE product_id = p.id AND kind = 'opening' ORDER BY id LIMIT 1)
         FROM products AS p WHERE p.id",
    );
    query.any_of(products.iter().copied());
    conn.all_of(&query, |row| {
        let (moved, sold): (Option<Timestamp>, Option<Timestamp>) = (row.get(2)?, row.get(3)?);
        let first = match (moved, sold) {
            (Some(moved), Some(sold)) => Some(moved.min(sold)),
            (moved, sold) => moved.or(sold),
        };
        Ok(Past {
            product: row.get(0)?,
            units: row.get(1)?,
            first,
            opened: row.get(4)?,
        })
    })
    .await
}

/// What went out of some products on each day from a moment up to now.
pub(crate) async fn sold_by_day(
    conn: &mut Conn,
    products: &[i64],
    from: Timestamp,
    now: Timestamp,
) -> Result<Vec<DaySales>, Error> {
    let (before, after) = match conn.engine() {
        Engine::Sqlite => ("(", " - created_at) / 86400000000"),
        Engine::Postgres => (
            "CAST(floor(extract(epoch FROM (CAST(",
            " AS TIMESTAMPTZ) - created_at)) / 86400) AS BIGINT)",
        ),
    };
    let mut query = Query::new("SELECT product_id, ");
    query.push(before).bind(now).push(after).push(concat!(
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

/// The times without stock of some products since a moment, the ones that it fell into included.
pub(crate) async fn empties(
    conn: &mut Conn,
    products: &[i64],
    from: Timestamp,
    limit: i64,
) -> Result<Vec<(i64, Empty)>, Error> {
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
                AND e.created_at >= COALESCE((SELECT max(l.created_at) FROM ledger_entries AS l
                                              WHERE l.product_id = p.id AND l.created_at < ",
    );
    query.bind(from).push("), ").bind(from).push(") WHERE p.id");
    query
        .any_of(products.iter().copied())
        .push(" ORDER BY e.created_at, e.id LIMIT ")
        .bind(limit);
    conn.all_of(&query, |row| {
        let empty = Empty {
            from: row.get(1)?,
            to: row.get(2)?,
        };
        Ok((row.get(0)?, empty))
    })
    .await
}
