//! Statements that search movements: the newest of some products, and the texts of the newest of all. Each reads so many rows along an
//! index, however many there are.

use db::{Conn, Engine, Error, Query, Row, Timestamp};

use super::{Movement, MovementRecord, record_of, records};

/// Where movements are looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SearchScope {
    /// From one supplier.
    pub(crate) supplier: Option<i64>,
    /// Of one product.
    pub(crate) product: Option<i64>,
    /// From this moment on, and before this one.
    pub(crate) between: Option<(Timestamp, Timestamp)>,
}

/// What a movement is found by, beside its product's place among those that a search finds.
#[derive(Debug)]
pub(in crate::stock::movements) struct SearchText {
    pub(in crate::stock::movements) key: Key,
    pub(in crate::stock::movements) product: i64,
    /// Title, serie number, description and who booked it, each on its line.
    pub(in crate::stock::movements) text: String,
}

/// When a movement was booked, and its id: the order of lists.
pub(in crate::stock::movements) type Key = (Timestamp, i64);

/// Where the movements of a statement that follows stand in the order of time.
const PLACES: &str = "SELECT created_at, id FROM (";

impl SearchScope {
    /// The newest movements, of one product or of all, behind what the query has.
    fn push_newest(&self, query: &mut Query, movement: Movement, product: Option<i64>, limit: i64) {
        query.push("SELECT m.id, m.created_at, m.product_id, m.description FROM ");
        query.push(movement.path()).push(" AS m WHERE TRUE");
        if let Some(product) = product {
            query.push(" AND m.product_id = ").bind(product);
        }
        if let Some(supplier) = self.supplier {
            query.push(" AND m.supplier_id = ").bind(supplier);
        }
        if let Some((from, until)) = self.between {
            query
                .push(" AND m.created_at >= ")
                .bind(from)
                .push(" AND m.created_at < ")
                .bind(until);
        }
        query
            .push(" ORDER BY m.created_at DESC, m.id DESC LIMIT ")
            .bind(limit);
    }

    /// The newest movements of some products, behind what `query` begins with.
    fn of_products(
        &self,
        mut query: Query,
        movement: Movement,
        products: &[i64],
        limit: i64,
    ) -> Query {
        query.push(PLACES);
        for (place, product) in products.iter().enumerate() {
            query.push(if place == 0 { "" } else { " UNION ALL " });
            query.push(PLACES);
            self.push_newest(&mut query, movement, Some(*product), limit);
            query.push(") AS of_product");
        }
        query
            .push(") AS found ORDER BY created_at DESC, id DESC LIMIT ")
            .bind(limit);
        query
    }

    /// The texts of the newest movements, behind what `query` begins with.
    fn texts(&self, mut query: Query, engine: Engine, movement: Movement, limit: i64) -> Query {
        query.push(
            "SELECT page.created_at, page.id, page.product_id, p.title, p.serie_number, page.description, l.user_name FROM (",
        );
        self.push_newest(&mut query, movement, self.product, limit);
        query
            .push(") AS page")
            .push(engine.join_in_order())
            .push(
                "products AS p ON p.id = page.product_id
                 LEFT JOIN ledger_entries AS l
                   ON l.product_id = page.product_id AND l.created_at = page.created_at AND l.reference_id = page.id AND l.kind = ",
            )
            .bind(movement.name());
        query
    }
}

/// The newest movements of some products.
pub(in crate::stock::movements) async fn newest_of(
    conn: &mut Conn,
    movement: Movement,
    scope: &SearchScope,
    products: &[i64],
    limit: i64,
) -> Result<Vec<Key>, Error> {
    if products.is_empty() {
        return Ok(Vec::new());
    }
    let query = scope.of_products(Query::new(""), movement, products, limit);
    conn.all_of(&query, |row| Ok((row.get(0)?, row.get(1)?)))
        .await
}

/// The texts of the newest movements.
pub(in crate::stock::movements) async fn texts(
    conn: &mut Conn,
    movement: Movement,
    scope: &SearchScope,
    limit: i64,
) -> Result<Vec<SearchText>, Error> {
    let query = scope.texts(Query::new(""), conn.engine(), movement, limit);
    conn.all_of(&query, search_text_of).await
}

fn search_text_of(row: &Row<'_>) -> Result<SearchText, Error> {
    let mut text: String = row.get(3)?;
    for column in 4..=6 {
        let more: Option<String> = row.get(column)?;
        if let Some(more) = more {
            text.push('\n');
            text.push_str(&more);
        }
    }
    Ok(SearchText {
        key: (row.get(0)?, row.get(1)?),
        product: row.get(2)?,
        text,
    })
}

/// These movements.
pub(in crate::stock::movements) async fn of_ids(
    conn: &mut Conn,
    movement: Movement,
    ids: impl Iterator<Item = i64>,
) -> Result<Vec<MovementRecord>, Error> {
    let mut query = records(movement);
    query.push(" WHERE m.id").any_of(ids);
    conn.all_of(&query, |row| record_of(movement, row)).await
}

#[cfg(test)]
mod tests {
    use test_kit::on_both_engines;

    use super::*;
    use crate::plans;

    fn looks_at_all(step: &str) -> bool {
        let step = step.trim();
        step == "SCAN m" || step == "SCAN l" || step.contains("Seq Scan on")
    }

    /// What both statements look at all of, of one kind of movement, narrowed in every way.
    async fn looked_at(conn: &mut Conn, movement: Movement) -> Result<Vec<String>, Error> {
        let until = Timestamp::parse("2026-11-20T12:00:00Z").unwrap();
        let last_day = (until - std::time::Duration::from_secs(86_400), until);
        let mut looked = Vec::new();
        for supplier in [None, Some(2)].into_iter().take(match movement {
            Movement::Inflow => 2,
            Movement::Outflow => 1,
        }) {
            for between in [None, Some(last_day)] {
                for product in [None, Some(7)] {
                    let scope = SearchScope {
                        supplier,
                        product,
                        between,
                    };
                    let engine = conn.engine();
                    let texts = |query| scope.texts(query, engine, movement, 100);
                    looked.extend(plans::steps(conn, texts).await?);
                    let of_three = |query| scope.of_products(query, movement, &[1, 2, 3], 100);
                    looked.extend(plans::steps(conn, of_three).await?);
                }
            }
        }
        looked.retain(|step| looks_at_all(step));
        Ok(looked)
    }

    on_both_engines!(
        movements_are_searched_along_an_index_however_they_are_narrowed,
        async |address| {
            let db = plans::shop(&address, (200, 20_000), 30).await;
            plans::nothing_is_scanned(db, async |conn: &mut Conn| {
                let mut looked = looked_at(conn, Movement::Inflow).await?;
                looked.extend(looked_at(conn, Movement::Outflow).await?);
                Ok(looked)
            })
            .await;
        }
    );
}
