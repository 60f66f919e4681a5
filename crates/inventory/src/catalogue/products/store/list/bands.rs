//! Products within a range of prices in another order than by price: found band by band, the first of each price band in that order, then
//! merged. Prices correlate with titles and cost prices, so walking an index of the order alone may take long before it meets a price that
//! fits; within a band every price fits, except in the first and the last.

use db::{Engine, Money, Query};

use super::{Filtering, Selection, measure::Measured};
use crate::tallies::prices::digits_of;

/// So few products are sorted sooner than the bands are asked for theirs.
const FEW: u64 = 3000;
/// From so many records on, the first of each band are too many.
const MOST_OF_A_BAND: u64 = 200;

/// A column that the bands have in order: `products_band_…`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Column {
    /// Of `products AS p`, and of `products AS x`.
    names: [&'static str; 2],
    order: &'static str,
}

/// The band of a price, as the column `price_band` has it: by how many digits it has in hundredths, and half of the first two.
pub(super) fn band_of(price: Money) -> i64 {
    let digits = digits_of(price);
    let first_two: String = digits.chars().take(2).collect();
    let length = i64::try_from(digits.len()).unwrap_or(0);
    length * 50 + first_two.parse::<i64>().unwrap_or(0) / 2
}

impl Selection {
    /// Whether bands are the way to a page.
    pub(super) fn goes_by_bands(&self, measured: &Measured, wanted: u64) -> bool {
        self.filter.is_price_alone()
            && self.band_column().is_some()
            && measured.count > FEW
            && wanted <= MOST_OF_A_BAND
    }

    fn band_column(&self) -> Option<Column> {
        let [by] = self.order.as_slice() else {
            return None;
        };
        let (names, order) = match (by.field, by.descending) {
            ("title", false) => (["p.title_folded", "x.title_folded"], ""),
            ("title", true) => (["p.title_folded", "x.title_folded"], " DESC"),
            ("cost_price", false) => (["p.cost_price", "x.cost_price"], ""),
            ("cost_price", true) => (["p.cost_price", "x.cost_price"], " DESC"),
            ("description", false) => (["p.description_key", "x.description_key"], " NULLS FIRST"),
            ("description", true) => (
                ["p.description_key", "x.description_key"],
                " DESC NULLS LAST",
            ),
            _ => return None,
        };
        Some(Column { names, order })
    }

    /// The bands that have products, from the first that may have some that fit to the last.
    pub(super) fn push_bands(&self, query: &mut Query) {
        let filter = &self.filter;
        let first = band_of(filter.min_price.unwrap_or(Money::ZERO).max(Money::ZERO));
        let last = band_of(filter.max_price.unwrap_or(Money::MAX).min(Money::MAX));
        query
            .push("WITH RECURSIVE bands (band) AS (SELECT (SELECT x.price_band FROM products AS x WHERE x.price_band >= ")
            .bind(first)
            .push(" AND x.price_band <= ")
            .bind(last)
            .push(" ORDER BY x.price_band LIMIT 1) UNION ALL SELECT (SELECT x.price_band FROM products AS x WHERE x.price_band > b.band AND x.price_band <= ")
            .bind(last)
            .push(" ORDER BY x.price_band LIMIT 1) FROM bands AS b WHERE b.band IS NOT NULL) ");
    }

    /// The first of each band, in order.
    pub(super) fn push_banded(&self, query: &mut Query, engine: Engine, wanted: i64) {
        let Some(Column {
            names: [inner, outer],
            order,
        }) = self.band_column()
        else {
            return;
        };
        query.push("x.id FROM bands AS b CROSS JOIN ");
        match engine {
            Engine::Sqlite => query.push("products AS x ON x.id IN (SELECT p.id"),
            Engine::Postgres => query.push("LATERAL (SELECT p.id, ").push(inner),
        };
        query.push(" FROM products AS p WHERE p.price_band = b.band");
        self.filter.push_ranges(query, Filtering::RowByRow);
        query.push(" ORDER BY ").push(inner).push(order);
        query.push(", p.id LIMIT ").bind(wanted);
        query.push(match engine {
            Engine::Sqlite => ")",
            Engine::Postgres => ") AS x",
        });
        query.push(" ORDER BY ").push(outer).push(order);
        query.push(", x.id");
    }
}

#[cfg(test)]
mod tests {
    use db::{Conn, Error};
    use proptest::prelude::*;
    use test_kit::on_both_engines;

    use super::*;
    use crate::generate::made_up;

    on_both_engines!(the_store_has_prices_in_the_same_bands, async |address| {
        let db = made_up(&address, (200, 0), 30).await;
        let read = async |conn: &mut Conn| {
            conn.all(
                "SELECT price_band, selling_price FROM products",
                &[],
                |row| Ok((row.get::<i64>(0)?, row.get::<Money>(1)?)),
            )
            .await
        };
        let prices = [0, 1, 9, 10, 99, 100, 999, 1000, Money::MAX.cents()];
        for (id, cents) in (1_i64..).zip(prices) {
            let price = Money::from_cents(cents);
            let write = async move |tx: &mut db::Tx| {
                tx.execute(
                    "UPDATE products SET selling_price = $2 WHERE id = $1",
                    &[&id, &price],
                )
                .await
            };
            db.write::<_, Error, _>(write).await.unwrap();
        }
        let found = db.read::<_, Error, _>(read).await.unwrap();
        assert_eq!(found.len(), 200);
        for (band, price) in found {
            assert_eq!(band, band_of(price), "{price}");
        }
        db.close().await;
    });

    proptest! {
        #[test]
        fn bands_follow_prices(one in 0..=Money::MAX.cents(), other in 0..=Money::MAX.cents(), shift in 0..70_u32) {
            let (one, other) = (Money::from_cents(one >> shift), Money::from_cents(other >> shift));
            let (less, more) = (one.min(other), one.max(other));
            prop_assert!(band_of(less) <= band_of(more));
        }
    }
}
