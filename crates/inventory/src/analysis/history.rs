//! Daily sales histories of products: units sold on each day, and whether there was stock. A day is
//! 24 hours long. The newest day ends now, so it is as long as the others.

use std::collections::BTreeMap;

use db::{Conn, Error, Timestamp};

use super::{
    model::{Day, real},
    store::history::{self, DaySales},
};
use crate::aggregates::DAY;

/// The most stock-outs that are read per product. A product with more of them had short ones, and a
/// short stock-out does not make a whole day empty.
const MAX_STOCK_OUTS: i64 = 10_000;

/// The daily histories of these products, oldest day first. A history starts with the product's
/// first movement and has at most `window` days. A product without movements has no entry. Runs
/// three SQL statements for any number of products.
pub(super) async fn days(
    conn: &mut Conn,
    products: &[i64],
    window: i64,
    now: Timestamp,
) -> Result<BTreeMap<i64, Vec<Day>>, Error> {
    let begin = window_begin(window, now);
    let mut histories = BTreeMap::new();
    for past in history::sales_histories(conn, products, begin).await? {
        if let Some(first) = past.first {
            let known_since = past.opened.unwrap_or(first);
            let days = DailyHistory::new(first.max(begin), now);
            histories.insert(past.product, (days, known_since));
        }
    }
    let most = i64::try_from(products.len()).map_or(i64::MAX, |count| count * MAX_STOCK_OUTS);
    for (product, stock_out) in history::stock_outs(conn, products, begin, most).await? {
        if let Some((days, known_since)) = histories.get_mut(&product) {
            days.mark_stock_out(stock_out.from.max(*known_since), stock_out.to);
        }
    }
    for sales in history::sold_by_day(conn, products, begin, now).await? {
        if let Some((days, _)) = histories.get_mut(&sales.product) {
            days.add_sales(sales);
        }
    }
    let days = histories.into_iter();
    Ok(days
        .map(|(id, (days, _))| (id, days.oldest_first()))
        .collect())
}

/// The time `window` days ago.
fn window_begin(window: i64, now: Timestamp) -> Timestamp {
    now - DAY * u32::try_from(window).unwrap_or(u32::MAX)
}

/// How fast a product sells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SalesPace {
    /// Units sold in the window.
    pub(crate) units: i64,
    /// Units per day, over the window or over the product's age if that is shorter.
    pub(crate) per_day: f64,
}

/// The sales pace of these products over the last `window` days.
pub(crate) async fn sales_paces(
    conn: &mut Conn,
    products: &[i64],
    window: i64,
    now: Timestamp,
) -> Result<BTreeMap<i64, SalesPace>, Error> {
    let begin = window_begin(window, now);
    let pasts = history::sales_histories(conn, products, begin).await?;
    let pace = |past: history::SalesHistory| {
        let begin = past.first.map_or(begin, |first| first.max(begin));
        let days = now.since(begin).as_secs_f64() / DAY.as_secs_f64();
        let per_day = real(past.units) / days.max(1.0);
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
    fn new(start: Timestamp, end: Timestamp) -> Self {
        let count = end.since(start).as_secs() / DAY.as_secs() + 1;
        // If the period is a whole number of days, there is no partial day at its beginning.
        let is_even = end.since(start) == DAY * u32::try_from(count - 1).unwrap_or(u32::MAX);
        let count = if is_even { (count - 1).max(1) } else { count };
        let days = usize::try_from(count).unwrap_or(0);
        Self {
            start,
            end,
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
    fn mark_stock_out(&mut self, from: Timestamp, to: Option<Timestamp>) {
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
        for (days_ago, units) in [(0, 1), (0, 2), (1, 4), (4, 8), (5, 16)] {
            history.add_sales(DaySales {
                product: 1,
                days_ago,
                units,
            });
        }
        let units: Vec<i64> = history.oldest_first().iter().map(|day| day.units).collect();
        assert_eq!(units, [24, 0, 0, 4, 3]);
    }

    #[test]
    fn a_day_that_was_empty_in_part_had_something_to_sell() {
        let mut history = history();
        let spells = [
            ("2026-11-16T10:00:00Z", Some(at("2026-11-18T13:00:00Z"))),
            ("2026-11-19T20:00:00Z", None),
        ];
        for (from, to) in spells {
            history.mark_stock_out(at(from), to);
        }
        let in_stock: Vec<bool> = history
            .oldest_first()
            .iter()
            .map(|day| day.in_stock)
            .collect();
        assert_eq!(in_stock, [true, false, false, true, true]);
    }

    #[test]
    fn a_product_of_this_hour_has_one_day() {
        let now = at("2026-11-20T12:00:00Z");
        assert_eq!(DailyHistory::new(now, now).oldest_first().len(), 1);
        assert_eq!(
            DailyHistory::new(at("2026-11-20T11:00:00Z"), now)
                .oldest_first()
                .len(),
            1
        );
        assert_eq!(
            DailyHistory::new(at("2026-11-19T11:00:00Z"), now)
                .oldest_first()
                .len(),
            2
        );
    }
}
