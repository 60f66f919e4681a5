//! The report on the whole shop: which products carry its turnover, which lie dead, which are overstocked, and what is running out. It is read
//! in pieces in the database's own order, so it takes as much memory for ten million movements as for ten thousand, except one number for
//! each product. Unlike analyses of single products it does not look for days without stock, so levels of products that were out of stock
//! are a little low.

mod line;
mod schedule;
mod summary;

use std::{collections::BTreeMap, time::Duration};

use db::{Conn, Db, Error, Money, Timestamp};

pub use line::Line;
pub(crate) use schedule::run;
pub use schedule::{Week, step as scheduled_step};
pub use summary::Summary as ReportSummary;
pub(crate) use summary::{Printed, Section};

use super::{
    model::{Day, Terms, portfolio::Cuts},
    store::shop::{self, Product, Sold},
};
use crate::{Config, stock::Policy};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// Products that are held at once, with a number for each of their days.
const PRODUCTS: i64 = 500;
/// Products whose yearly usage is summed by one statement.
const SUMMED: i64 = 2000;
/// Outflows that are held at once.
const SALES: i64 = 10_000;

/// What a report is made of.
#[derive(Debug, Clone)]
pub struct Order {
    /// What the shop assumes of supply.
    pub terms: Terms,
    /// The most days of history for forecasts.
    pub window_days: i64,
    /// When a product is low.
    pub policy: Policy,
    /// The moment that it speaks of.
    pub now: Timestamp,
}

impl Order {
    /// A report by the service's settings.
    pub fn new(config: &Config, now: Timestamp) -> Self {
        Self {
            terms: config.analysis.terms,
            window_days: config.analysis.window_days,
            policy: Policy::from(config),
            now,
        }
    }

    fn window_begin(&self) -> Timestamp {
        self.now - DAY * u32::try_from(self.window_days).unwrap_or(u32::MAX)
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The store failed.
    #[error("the records cannot be read")]
    Database(#[from] Error),
    /// A line could not be written.
    #[error("the report cannot be written")]
    Output(#[from] std::io::Error),
}

/// Makes the report: `write` is handed every product's line, in the order of ids, and the summary is answered.
///
/// # Errors
///
/// [`ReportError`]
pub async fn report(
    db: &Db,
    order: &Order,
    mut write: impl FnMut(&Line) -> std::io::Result<()>,
) -> Result<ReportSummary, ReportError> {
    let usage = usage(db, order.now).await?;
    let mut values: Vec<i128> = usage.iter().map(|(_, _, value)| value.cents()).collect();
    let cuts = Cuts::of(&mut values);
    drop(values);
    let mut summary = ReportSummary::new(order.now, order.window_days);
    let mut used = usage.into_iter().peekable();
    let mut after = i64::MIN;
    loop {
        let (from, limit) = (after, PRODUCTS);
        let year_ago = order.now - YEAR;
        let read = async move |conn: &mut Conn| shop::products(conn, from, year_ago, limit).await;
        let products: Vec<Product> = db.report::<_, Error, _>(read).await?;
        let (Some(first), Some(last)) = (products.first(), products.last()) else {
            return Ok(summary);
        };
        after = last.id;
        let mut days = days(db, order, (first.id, last.id), &products).await?;
        for product in products {
            // Both are in the order of ids; a product made meanwhile has no usage, and one deleted no line.
            while used.next_if(|(id, _, _)| *id < product.id).is_some() {}
            let of_year = used.next_if(|(id, _, _)| *id == product.id);
            let (units, value) =
                of_year.map_or((0, Money::ZERO), |(_, units, value)| (units, value));
            let history = days.remove(&product.id).unwrap_or_default();
            let line = Line::new(order, &product, &history, (units, value), cuts);
            write(&line)?;
            summary.add(&line);
        }
    }
}

/// A year's usage of every product: the one number a product that is held for all of them at once.
async fn usage(db: &Db, now: Timestamp) -> Result<Vec<(i64, i64, Money)>, Error> {
    let mut all = Vec::new();
    let (mut after, from) = (i64::MIN, now - YEAR);
    loop {
        let read = async move |conn: &mut Conn| shop::usage(conn, after, from, SUMMED).await;
        let piece: Vec<(i64, i64, Money)> = db.report::<_, Error, _>(read).await?;
        let Some((last, _, _)) = piece.last() else {
            return Ok(all);
        };
        after = *last;
        all.extend(piece);
    }
}

/// The days of each of these products.
async fn days(
    db: &Db,
    order: &Order,
    range: (i64, i64),
    products: &[Product],
) -> Result<BTreeMap<i64, Vec<Day>>, Error> {
    let begin = order.window_begin();
    let mut days: BTreeMap<i64, Vec<Day>> = BTreeMap::new();
    for product in products {
        let start = product.first_entry.unwrap_or(order.now).max(begin);
        let age = order.now.since(start).as_secs() / DAY.as_secs();
        let count = i64::try_from(age + 1)
            .unwrap_or(i64::MAX)
            .clamp(1, order.window_days.max(1));
        let day = Day {
            units: 0,
            in_stock: true,
        };
        days.insert(product.id, vec![day; usize::try_from(count).unwrap_or(0)]);
    }
    let mut after = Sold {
        product: i64::MIN,
        at: begin,
        id: i64::MIN,
        units: 0,
    };
    loop {
        let read = async move |conn: &mut Conn| shop::sold(conn, range, begin, after, SALES).await;
        let sales: Vec<Sold> = db.report::<_, Error, _>(read).await?;
        for sale in &sales {
            let ago = order.now.since(sale.at).as_secs() / DAY.as_secs();
            if let Some(history) = days.get_mut(&sale.product) {
                let newest = history.len().saturating_sub(1);
                let ago = usize::try_from(ago).unwrap_or(usize::MAX).min(newest);
                if let Some(day) = history.get_mut(newest - ago) {
                    day.units = day.units.saturating_add(sale.units);
                }
            }
        }
        match sales.last() {
            Some(last) if sales.len() >= usize::try_from(SALES).unwrap_or(usize::MAX) => {
                after = *last;
            }
            _ => return Ok(days),
        }
    }
}
