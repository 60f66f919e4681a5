//! The report on the whole shop: which products make its turnover, which are dead or overstocked,
//! and what runs out.
//!
//! Reads products and outflows in batches by id, so memory does not grow with the number of
//! movements. Only the yearly usage is in memory for all products. Unlike an analysis, the report
//! does not correct for days without stock, so its forecasts for such products are slightly low.

mod line;
mod schedule;
mod summary;

use std::{collections::BTreeMap, time::Duration};

use db::{Conn, Db, Error, Money, Timestamp};

pub use line::ReportLine;
pub(crate) use schedule::run;
pub use schedule::{WeeklyRun, run_once as run_weekly};
pub use summary::ReportSummary;

use super::{
    assess::RestockSettings,
    history::window_begin,
    model::{Day, portfolio::AbcThresholds},
    store::shop::{self, ReportProduct, ReportSale},
};
use crate::{Config, aggregates::DAY};

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// Products per batch. Each has a number for every day of history.
const BATCH_PRODUCTS: i64 = 500;
/// Products per statement that sums the yearly usage.
const BATCH_USAGE: i64 = 2000;
/// Outflows per batch.
const BATCH_SALES: i64 = 10_000;

/// The settings and the time of a report.
#[derive(Debug, Clone)]
pub struct ReportParameters {
    settings: RestockSettings,
    now: Timestamp,
}

impl ReportParameters {
    /// The parameters from the service's settings.
    pub fn new(config: &Config, now: Timestamp) -> Self {
        let settings = config.into();
        Self { settings, now }
    }
}

/// Why the report failed.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The database failed.
    #[error("the records cannot be read")]
    Database(#[from] Error),
    /// A line could not be written.
    #[error("the report cannot be written")]
    Output(#[from] std::io::Error),
}

/// Creates the report: calls `write` with every product's line, in the order of ids, and returns
/// the summary.
pub async fn report(
    db: &Db,
    parameters: &ReportParameters,
    mut write: impl FnMut(&ReportLine) -> std::io::Result<()>,
) -> Result<ReportSummary, ReportError> {
    let mut usage = usage(db, parameters.now).await?;
    let mut values: Vec<i128> = usage.values().map(|(_, value)| value.cents()).collect();
    let thresholds = AbcThresholds::of(&mut values);
    drop(values);
    let mut summary = ReportSummary::new(parameters.now, parameters.settings.window_days);
    let mut after = i64::MIN;
    loop {
        let (from, limit) = (after, BATCH_PRODUCTS);
        let year_ago = parameters.now - YEAR;
        let read = async move |conn: &mut Conn| shop::products(conn, from, year_ago, limit).await;
        let products: Vec<ReportProduct> = db.report::<_, Error, _>(read).await?;
        let (Some(first), Some(last)) = (products.first(), products.last()) else {
            return Ok(summary);
        };
        after = last.id;
        let mut days = days(db, parameters, (first.id, last.id), &products).await?;
        for product in products {
            // A product may have been created after its usage was read.
            let usage = usage.remove(&product.id).unwrap_or_default();
            let history = days.remove(&product.id).unwrap_or_default();
            let line = ReportLine::new(parameters, &product, &history, usage, thresholds);
            write(&line)?;
            summary.add(&line);
        }
    }
}

/// The yearly usage of every product by id (units, value), which the ABC classes need at once.
async fn usage(db: &Db, now: Timestamp) -> Result<BTreeMap<i64, (i64, Money)>, Error> {
    let mut all = BTreeMap::new();
    let (mut after, from) = (i64::MIN, now - YEAR);
    loop {
        let read = async move |conn: &mut Conn| shop::usage(conn, after, from, BATCH_USAGE).await;
        let batch = db.report::<_, Error, _>(read).await?;
        let Some((last, _)) = batch.last() else {
            return Ok(all);
        };
        after = *last;
        all.extend(batch);
    }
}

/// The daily sales of these products, by id; oldest day first.
async fn days(
    db: &Db,
    parameters: &ReportParameters,
    range: (i64, i64),
    products: &[ReportProduct],
) -> Result<BTreeMap<i64, Vec<Day>>, Error> {
    let window_days = parameters.settings.window_days;
    let begin = window_begin(window_days, parameters.now);
    let mut days: BTreeMap<i64, Vec<Day>> = BTreeMap::new();
    for product in products {
        let start = product.first_entry.unwrap_or(parameters.now).max(begin);
        let age = parameters.now.since(start).as_secs() / DAY.as_secs();
        let count = i64::try_from(age + 1)
            .unwrap_or(i64::MAX)
            .clamp(1, window_days.max(1));
        let count = usize::try_from(count).unwrap_or(0);
        days.insert(product.id, vec![Day::in_stock(0); count]);
    }
    let mut after = ReportSale {
        product: i64::MIN,
        at: begin,
        id: i64::MIN,
        units: 0,
    };
    loop {
        let read =
            async move |conn: &mut Conn| shop::sales(conn, range, begin, after, BATCH_SALES).await;
        let sales: Vec<ReportSale> = db.report::<_, Error, _>(read).await?;
        for sale in &sales {
            let ago = parameters.now.since(sale.at).as_secs() / DAY.as_secs();
            if let Some(history) = days.get_mut(&sale.product) {
                let newest = history.len().saturating_sub(1);
                let ago = usize::try_from(ago).unwrap_or(usize::MAX).min(newest);
                if let Some(day) = history.get_mut(newest - ago) {
                    day.units = day.units.saturating_add(sale.units);
                }
            }
        }
        match sales.last() {
            Some(last) if sales.len() >= usize::try_from(BATCH_SALES).unwrap_or(usize::MAX) => {
                after = *last;
            }
            _ => return Ok(days),
        }
    }
}
