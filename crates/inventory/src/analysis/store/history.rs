//! Statements about a product's past: when it was sold, and when it was out of stock. Read in bounded pieces, by the indexes on product
//! and time, so that memory and the time of a statement do not grow with the shop.

use db::{Conn, Error, Query, Timestamp};

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

/// An outflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sale {
    pub(crate) at: Timestamp,
    pub(crate) id: i64,
    pub(crate) units: i64,
}

/// A time without stock; without an end it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Empty {
    pub(crate) from: Timestamp,
    pub(crate) to: Option<Timestamp>,
}

/// One product.
pub(crate) async fn subject(conn: &mut Conn, product: i64) -> Result<Option<Subject>, Error> {
    conn.optional(
        "SELECT p.title, s.quantity, s.threshold,
                t.lead_time, t.lead_time_deviation, t.service_level, t.review_interval, t.pack_multiple
         FROM products AS p JOIN product_stock AS s ON s.product_id = p.id
         LEFT JOIN restock_terms AS t ON t.product_id = p.id
         WHERE p.id = $1",
        &[&product],
        |row| {
            Ok(Subject {
                id: product,
                title: row.get(0)?,
                quantity: row.get(1)?,
                threshold: row.get(2)?,
                terms: OwnTerms {
                    lead_time: row.get(3)?,
                    lead_time_deviation: row.get(4)?,
                    service_level: row.get(5)?,
                    review_interval: row.get(6)?,
                    pack_multiple: row.get(7)?,
                },
            })
        },
    )
    .await
}

/// When something of a product first moved. An opening with nothing is no movement.
pub(crate) async fn first_movement(
    conn: &mut Conn,
    product: i64,
) -> Result<Option<Timestamp>, Error> {
    let ledger: Option<Timestamp> = conn
        .optional(
            "SELECT created_at FROM ledger_entries WHERE product_id = $1 AND change <> 0 ORDER BY created_at, id LIMIT 1",
            &[&product],
            |row| row.get(0),
        )
        .await?;
    let sold: Option<Timestamp> = conn
        .optional(
            "SELECT created_at FROM outflows WHERE product_id = $1 ORDER BY created_at, id LIMIT 1",
            &[&product],
            |row| row.get(0),
        )
        .await?;
    Ok(match (ledger, sold) {
        (Some(ledger), Some(sold)) => Some(ledger.min(sold)),
        (ledger, sold) => ledger.or(sold),
    })
}

/// A page of outflows from a moment on, behind the last one of the page before.
pub(crate) async fn sales(
    conn: &mut Conn,
    product: i64,
    from: Timestamp,
    after: i64,
    limit: i64,
) -> Result<Vec<Sale>, Error> {
    conn.all(
        "SELECT created_at, id, quantity FROM outflows
         WHERE product_id = $1 AND created_at >= $2 AND (created_at > $2 OR id > $3)
         ORDER BY created_at, id LIMIT $4",
        &[&product, &from, &after, &limit],
        |row| {
            Ok(Sale {
                at: row.get(0)?,
                id: row.get(1)?,
                units: row.get(2)?,
            })
        },
    )
    .await
}

/// The times without stock since a moment, the one that it fell into included.
pub(crate) async fn empties(
    conn: &mut Conn,
    product: i64,
    from: Timestamp,
    limit: i64,
) -> Result<Vec<Empty>, Error> {
    conn.all(
        "SELECT created_at, next_at
         FROM (SELECT created_at, balance_after, lead(created_at) OVER (ORDER BY created_at, id) AS next_at
               FROM ledger_entries
               WHERE product_id = $1
                 AND created_at >= COALESCE((SELECT max(created_at) FROM ledger_entries WHERE product_id = $1 AND created_at < $2), $2)
              ) AS entry
         WHERE balance_after = 0 ORDER BY created_at LIMIT $3",
        &[&product, &from, &limit],
        |row| Ok(Empty { from: row.get(0)?, to: row.get(1)? }),
    )
    .await
}

/// Units that went out of some products since a moment, and when something of each first moved: one statement, however many they are.
pub(crate) async fn paces(
    conn: &mut Conn,
    products: &[i64],
    from: Timestamp,
) -> Result<Vec<(i64, i64, Option<Timestamp>)>, Error> {
    let mut query = Query::new(
        "SELECT p.id,
                (SELECT CAST(COALESCE(sum(quantity), 0) AS BIGINT) FROM outflows WHERE product_id = p.id AND created_at >= ",
    );
    query.bind(from).push(
        "),
                (SELECT created_at FROM ledger_entries WHERE product_id = p.id AND change <> 0 ORDER BY created_at, id LIMIT 1),
                (SELECT created_at FROM outflows WHERE product_id = p.id ORDER BY created_at, id LIMIT 1)
         FROM products AS p WHERE p.id IN (0",
    );
    for product in products {
        query.push(", ").bind(*product);
    }
    query.push(")");
    conn.all_of(&query, |row| {
        let (moved, sold): (Option<Timestamp>, Option<Timestamp>) = (row.get(2)?, row.get(3)?);
        let first = match (moved, sold) {
            (Some(moved), Some(sold)) => Some(moved.min(sold)),
            (moved, sold) => moved.or(sold),
        };
        Ok((row.get(0)?, row.get(1)?, first))
    })
    .await
}

/// Units that went out of a product since a moment.
pub(crate) async fn units_since(
    conn: &mut Conn,
    product: i64,
    from: Timestamp,
) -> Result<i64, Error> {
    conn.one(
        "SELECT CAST(COALESCE(sum(quantity), 0) AS BIGINT) FROM outflows WHERE product_id = $1 AND created_at >= $2",
        &[&product, &from],
        |row| row.get(0),
    )
    .await
}
