//! The histories of products by days: what was sold on each, and whether there was anything to sell. Days are stretches of 24 hours that end
//! now, so that the newest day is as long as the others.

use std::{collections::BTreeMap, time::Duration};

use db::{Conn, Error, Timestamp};

use super::{
    model::{Day, real},
    store::history::{self, DaySales},
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Times without stock that are looked at, for each product; one that was out of stock more often was so for moments.
const MOST_EMPTIES: i64 = 10_000;

/// The days of some products up to now, oldest first: of each since its first movement, at most `window` of them. A product that never
/// moved has none. Three statements, however many products there are.
pub(super) async fn days(
    conn: &mut Conn,
    products: &[i64],
    window: i64,
    now: Timestamp,
) -> Result<BTreeMap<i64, Vec<Day>>, Error> {
    let begin = begin(window, now);
    let mut shelves = BTreeMap::new();
    for past in history::pasts(conn, products, begin).await? {
        if let Some(first) = past.first {
            let known_since = past.opened.unwrap_or(first);
            let shelf = Shelf::new(first.max(begin), now);
            shelves.insert(past.product, (shelf, known_since));
        }
    }
    let most = i64::try_from(products.len()).map_or(i64::MAX, |count| count * MOST_EMPTIES);
    for (product, empty) in history::empties(conn, products, begin, most).await? {
        if let Some((shelf, known_since)) = shelves.get_mut(&product) {
            shelf.was_empty(empty.from.max(*known_since), empty.to);
        }
    }
    for sales in history::sold_by_day(conn, products, begin, now).await? {
        if let Some((shelf, _)) = shelves.get_mut(&sales.product) {
            shelf.sold(sales);
        }
    }
    let days = shelves.into_iter();
    Ok(days.map(|(id, (shelf, _))| (id, shelf.days())).collect())
}

fn begin(window: i64, now: Timestamp) -> Timestamp {
    now - DAY * u32::try_from(window).unwrap_or(u32::MAX)
}

/// How fast a product goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Units that went out in the window.
    pub units: i64,
    /// Units a day, over the window or the product's own age.
    pub per_day: f64,
}

/// The pace of some products over the last `window` days.
///
/// # Errors
///
/// Faults of the store.
pub async fn paces(
    conn: &mut Conn,
    products: &[i64],
    window: i64,
    now: Timestamp,
) -> Result<BTreeMap<i64, Pace>, Error> {
    let begin = begin(window, now);
    let pasts = history::pasts(conn, products, begin).await?;
    let pace = |past: history::Past| {
        let begin = past.first.map_or(begin, |first| first.max(begin));
        let days = now.since(begin).as_secs_f64() / DAY.as_secs_f64();
        let per_day = real(past.units) / days.max(1.0);
        (
            past.product,
            Pace {
                units: past.units,
                per_day,
            },
        )
    };
    Ok(pasts.into_iter().map(pace).collect())
}

/// The days of one product as they fill.
struct Shelf {
    start: Timestamp,
    end: Timestamp,
    /// Newest first.
    days: Vec<Day>,
}

impl Shelf {
    fn new(start: Timestamp, end: Timestamp) -> Self {
        let count = end.since(start).as_secs() / DAY.as_secs() + 1;
        // A window that ends exactly a day's length after its start has no day more.
        let is_even = end.since(start) == DAY * u32::try_from(count - 1).unwrap_or(u32::MAX);
        let count = if is_even { (count - 1).max(1) } else { count };
        let day = Day {
            units: 0,
            in_stock: true,
        };
        Self {
            start,
            end,
            days: vec![day; usize::try_from(count).unwrap_or(0)],
        }
    }

    fn sold(&mut self, sales: DaySales) {
        let last = self.days.len().saturating_sub(1);
        let day = usize::try_from(sales.days_ago).unwrap_or(0).min(last);
        if let Some(day) = self.days.get_mut(day) {
            day.units = day.units.saturating_add(sales.units);
        }
    }

    /// Days that lie wholly within the time had nothing to sell.
    fn was_empty(&mut self, from: Timestamp, to: Option<Timestamp>) {
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

    fn days(mut self) -> Vec<Day> {
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

    fn shelf() -> Shelf {
        Shelf::new(at("2026-11-15T12:00:00Z"), at("2026-11-20T12:00:00Z"))
    }

    #[test]
    fn what_was_sold_on_the_first_day_is_never_before_it() {
        let mut shelf = shelf();
        for (days_ago, units) in [(0, 1), (0, 2), (1, 4), (4, 8), (5, 16)] {
            shelf.sold(DaySales {
                product: 1,
                days_ago,
                units,
            });
        }
        let units: Vec<i64> = shelf.days().iter().map(|day| day.units).collect();
        assert_eq!(units, [24, 0, 0, 4, 3]);
    }

    #[test]
    fn a_day_that_was_empty_in_part_had_something_to_sell() {
        let mut shelf = shelf();
        let spells = [
            ("2026-11-16T10:00:00Z", Some(at("2026-11-18T13:00:00Z"))),
            ("2026-11-19T20:00:00Z", None),
        ];
        for (from, to) in spells {
            shelf.was_empty(at(from), to);
        }
        let in_stock: Vec<bool> = shelf.days().iter().map(|day| day.in_stock).collect();
        assert_eq!(in_stock, [true, false, false, true, true]);
    }

    #[test]
    fn a_product_of_this_hour_has_one_day() {
        let now = at("2026-11-20T12:00:00Z");
        assert_eq!(Shelf::new(now, now).days().len(), 1);
        assert_eq!(Shelf::new(at("2026-11-20T11:00:00Z"), now).days().len(), 1);
        assert_eq!(Shelf::new(at("2026-11-19T11:00:00Z"), now).days().len(), 2);
    }
}
