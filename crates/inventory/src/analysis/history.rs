//! A product's history by days: what was sold on each, and whether there was anything to sell. Days are stretches of 24 hours that end
//! now, so that the newest day is as long as the others.

use std::{collections::BTreeMap, time::Duration};

use db::{Conn, Db, Error, Timestamp};

use super::{
    model::{Day, real, supply},
    store::history::{self, Sale},
};
use crate::stock;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Outflows that are read at once.
const PAGE: i64 = 5000;
/// Times without stock that are looked at; a product that was out of stock more often was so for moments.
const MOST_EMPTIES: i64 = 10_000;

/// The days up to now, oldest first: since the first movement, at most `window` of them.
pub(super) async fn days(
    db: &Db,
    product: i64,
    window: i64,
    now: Timestamp,
) -> Result<Vec<Day>, Error> {
    let begin = now - DAY * u32::try_from(window).unwrap_or(u32::MAX);
    let read = async move |conn: &mut Conn| {
        let first = history::first_movement(conn, product).await?;
        let opened = stock::opened_at(conn, product).await?;
        let empties = history::empties(conn, product, begin, MOST_EMPTIES).await?;
        Ok::<_, Error>((first, opened, empties))
    };
    let (Some(first), opened, empties) = db.read(read).await? else {
        return Ok(Vec::new());
    };
    let start = first.max(begin);
    let mut shelf = Shelf::new(start, now);
    let known_since = opened.unwrap_or(first);
    for empty in empties {
        shelf.was_empty(empty.from.max(known_since), empty.to);
    }
    let (mut from, mut after) = (start, i64::MIN);
    loop {
        let read =
            async move |conn: &mut Conn| history::sales(conn, product, from, after, PAGE).await;
        let sales: Vec<Sale> = db.read(read).await?;
        for sale in &sales {
            shelf.sold(*sale);
        }
        match sales.last() {
            Some(last) if sales.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX) => {
                (from, after) = (last.at, last.id);
            }
            _ => return Ok(shelf.days()),
        }
    }
}

/// How many days a quantity lasts at the pace of the last `window` days; none when nothing went out.
///
/// # Errors
///
/// Faults of the store.
pub async fn days_of_cover(
    conn: &mut Conn,
    product: i64,
    quantity: i64,
    window: i64,
    now: Timestamp,
) -> Result<Option<f64>, Error> {
    let begin = now - DAY * u32::try_from(window).unwrap_or(u32::MAX);
    let units = history::units_since(conn, product, begin).await?;
    let Some(first) = history::first_movement(conn, product).await? else {
        return Ok(None);
    };
    let days = now.since(first.max(begin)).as_secs_f64() / DAY.as_secs_f64();
    Ok(supply::days_of_cover(quantity, real(units) / days.max(1.0)))
}

/// How fast a product goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Units that went out in the window.
    pub units: i64,
    /// Units a day, over the window or the product's own age.
    pub per_day: f64,
}

/// The pace of some products over the last `window` days, as [`days_of_cover`] reckons with it.
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
    let begin = now - DAY * u32::try_from(window).unwrap_or(u32::MAX);
    let found = history::paces(conn, products, begin).await?;
    let pace = |(product, units, first): (i64, i64, Option<Timestamp>)| {
        let begin = first.map_or(begin, |first| first.max(begin));
        let days = now.since(begin).as_secs_f64() / DAY.as_secs_f64();
        let per_day = real(units) / days.max(1.0);
        (product, Pace { units, per_day })
    };
    Ok(found.into_iter().map(pace).collect())
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

    /// The newest day is 0.
    fn day_of(&self, time: Timestamp) -> usize {
        usize::try_from(self.end.since(time).as_secs() / DAY.as_secs()).unwrap_or(usize::MAX)
    }

    fn sold(&mut self, sale: Sale) {
        let last = self.days.len().saturating_sub(1);
        let day = self.day_of(sale.at).min(last);
        if let Some(day) = self.days.get_mut(day) {
            day.units = day.units.saturating_add(sale.units);
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
    fn sales_fall_into_stretches_of_24_hours_that_end_now() {
        let mut shelf = shelf();
        for (time, units) in [
            ("2026-11-20T12:00:00Z", 1),
            ("2026-11-19T12:00:01Z", 2),
            ("2026-11-19T12:00:00Z", 4),
            ("2026-11-15T12:00:00Z", 8),
        ] {
            shelf.sold(Sale {
                at: at(time),
                id: 1,
                units,
            });
        }
        let units: Vec<i64> = shelf.days().iter().map(|day| day.units).collect();
        assert_eq!(units, [8, 0, 0, 4, 3]);
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
