//! Daily sales histories of products: units sold on each day, and whether there was stock. Days are
//! those of UTC, as on the dashboard, so that a history changes only with the stock and the day.

use std::{collections::BTreeMap, time::Duration};

use db::{Conn, Error, Timestamp};

use super::{
    model::{Day, real},
    store::history::{self, DaySales, StockOut},
};
use crate::aggregates::{DAY, day_of};

/// The most stock-outs that are read per product. A product with more of them had short ones, and a
/// short stock-out does not make a whole day empty.
const MAX_STOCK_OUTS: i64 = 10_000;

/// The daily histories of these products, oldest day first. The last day is today. A history starts
/// with the product's first movement and has at most `window` days before today. A product without
/// movements has no entry. Runs three SQL statements for any number of products.
pub(super) async fn days(
    conn: &mut Conn,
    products: &[i64],
    window: i64,
    now: Timestamp,
) -> Result<BTreeMap<i64, Vec<Day>>, Error> {
    let begin = days_before(day_of(now), window);
    let mut histories = BTreeMap::new();
    for past in history::sales_histories(conn, products, begin).await? {
        if let Some(first) = past.first {
            let days = DailyHistory::new(first.max(begin), now);
            histories.insert(past.product, days);
        }
    }
    let most = i64::try_from(products.len()).map_or(i64::MAX, |count| count * MAX_STOCK_OUTS);
    let stock_outs = history::stock_outs(conn, products, begin, most).await?;
    for (product, stock_outs) in joined(stock_outs) {
        if let Some(days) = histories.get_mut(&product) {
            for stock_out in stock_outs {
                days.mark_stock_out(stock_out);
            }
        }
    }
    for sales in history::sold_by_day(conn, products, begin, last_moment(now)).await? {
        if let Some(days) = histories.get_mut(&sales.product) {
            days.add_sales(sales);
        }
    }
    let days = histories.into_iter();
    Ok(days.map(|(id, days)| (id, days.oldest_first())).collect())
}

/// The stock-outs of each product. One that begins when another ends continues it: history that is
/// imported meanwhile raises the balance and lowers it again in one moment.
fn joined(stock_outs: Vec<(i64, StockOut)>) -> BTreeMap<i64, Vec<StockOut>> {
    let mut joined: BTreeMap<i64, Vec<StockOut>> = BTreeMap::new();
    for (product, stock_out) in stock_outs {
        let of_product = joined.entry(product).or_default();
        match of_product.last_mut() {
            Some(last) if last.to == Some(stock_out.from) => last.to = stock_out.to,
            _ => of_product.push(stock_out),
        }
    }
    joined
}

fn days_before(time: Timestamp, days: i64) -> Timestamp {
    time - DAY * u32::try_from(days).unwrap_or(u32::MAX)
}

/// The end of today.
fn end_of_day(now: Timestamp) -> Timestamp {
    day_of(now) + DAY
}

/// The last moment of today.
fn last_moment(now: Timestamp) -> Timestamp {
    end_of_day(now) - Duration::from_micros(1)
}

/// The number of days from that of `start` until today, both included. At least 1.
fn count_days(start: Timestamp, now: Timestamp) -> i64 {
    let days = end_of_day(now).since(day_of(start)).as_secs() / DAY.as_secs();
    i64::try_from(days).unwrap_or(i64::MAX).max(1)
}

/// How fast a product sells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SalesPace {
    /// Units sold in the window.
    pub(crate) units: i64,
    /// Units per day, over the window or since the product's first movement.
    pub(crate) per_day: f64,
}

/// The sales pace of these products over `window` days, the last of which is today.
pub(crate) async fn sales_paces(
    conn: &mut Conn,
    products: &[i64],
    window: i64,
    now: Timestamp,
) -> Result<BTreeMap<i64, SalesPace>, Error> {
    let begin = days_before(end_of_day(now), window);
    let pasts = history::sales_histories(conn, products, begin).await?;
    let pace = |past: history::SalesHistory| {
        let begin = past.first.map_or(begin, |first| first.max(begin));
        let per_day = real(past.units) / real(count_days(begin, now));
        (
            past.product,
            SalesPace {
                units: past.units,
                per_day,
            },
        )
    };
    Ok(pasts.into_iter().map(pace).collect())
}

struct DailyHistory {
    start: Timestamp,
    end: Timestamp,
    /// Newest first.
    days: Vec<Day>,
}

impl DailyHistory {
    fn new(start: Timestamp, now: Timestamp) -> Self {
        let days = usize::try_from(count_days(start, now)).unwrap_or(0);
        Self {
            start,
            end: end_of_day(now),
            days: vec![Day::in_stock(0); days],
        }
    }

    fn add_sales(&mut self, sales: DaySales) {
        let last = self.days.len().saturating_sub(1);
        let day = usize::try_from(sales.days_ago).unwrap_or(0).min(last);
        if let Some(day) = self.days.get_mut(day) {
            day.units = day.units.saturating_add(sales.units);
        }
    }

    /// Marks the days that lie completely within a stock-out.
    fn mark_stock_out(&mut self, StockOut { from, to }: StockOut) {
        let to = to.unwrap_or(self.end);
        if to.since(from) < DAY && from > self.start {
            return;
        }
        for (index, day) in (0_u32..).zip(self.days.iter_mut()) {
            let day_end = self.end - DAY * index;
            let day_start = (day_end - DAY).max(self.start);
            if from <= day_start && day_end <= to {
                day.in_stock = false;
            }
        }
    }

    fn oldest_first(mut self) -> Vec<Day> {
        self.days.reverse();
        self.days
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn history() -> DailyHistory {
        DailyHistory::new(at("2026-11-15T12:00:00Z"), at("2026-11-20T12:00:00Z"))
    }

    #[test]
    fn what_was_sold_on_the_first_day_is_never_before_it() {
        let mut history = history();
        for (days_ago, units) in [(0, 1), (0, 2), (1, 4), (4, 8), (5, 10), (6, 6)] {
            history.add_sales(DaySales {
                product: 1,
                days_ago,
                units,
            });
        }
        let units: Vec<i64> = history.oldest_first().iter().map(|day| day.units).collect();
        assert_eq!(units, [16, 8, 0, 0, 4, 3]);
    }

    #[test]
    fn a_day_that_was_empty_in_part_had_something_to_sell() {
        let mut history = history();
        let spells = [
            ("2026-11-15T12:00:00Z", Some(at("2026-11-16T00:00:00Z"))),
            ("2026-11-16T10:00:00Z", Some(at("2026-11-18T13:00:00Z"))),
            ("2026-11-19T20:00:00Z", None),
        ];
        for (from, to) in spells {
            let from = at(from);
            history.mark_stock_out(StockOut { from, to });
        }
        let in_stock: Vec<bool> = history
            .oldest_first()
            .iter()
            .map(|day| day.in_stock)
            .collect();
        assert_eq!(in_stock, [false, true, false, true, true, false]);
    }

    #[test]
    fn a_history_has_each_day_from_its_first_movement_until_today() {
        let now = at("2026-11-20T12:00:00Z");
        for (start, days) in [
            ("2026-11-20T12:00:00Z", 1),
            ("2026-11-20T00:00:00Z", 1),
            ("2026-11-19T23:59:59Z", 2),
            ("2026-11-15T00:00:00Z", 6),
        ] {
            assert_eq!(count_days(at(start), now), days, "{start}");
        }
    }
}
