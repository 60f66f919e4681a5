//! The report on the whole shop: which products make its turnover, which are dead or overstocked,
//! and what runs out.
//!
//! Reads products in batches by id and their sales by day, so memory does not grow with the number
//! of movements. Only the yearly usage is in memory for all products. Forecasts are those of an
//! analysis.

mod line;
mod schedule;
mod summary;

use std::{collections::BTreeMap, time::Duration};

use db::{Conn, Db, Error, Timestamp};

pub use line::ReportLine;
pub(crate) use schedule::run;
pub use schedule::{WeeklyRun, run_once as run_weekly};
pub use summary::ReportSummary;

use super::{
    assess::{RestockSettings, assess},
    model::portfolio::AbcThresholds,
    store::shop,
};
use crate::{
    Config,
    aggregates::{Sum, day_of},
};

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// Products per batch. Each has a number for every day of its history.
const BATCH_PRODUCTS: i64 = 500;
/// Products per statement that sums the yearly usage.
const BATCH_USAGE: i64 = 2000;

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
    config: &Config,
    now: Timestamp,
    mut write: impl FnMut(&ReportLine) -> std::io::Result<()>,
) -> Result<ReportSummary, ReportError> {
    let settings = RestockSettings::from(config);
    let mut usage = usage(db, now).await?;
    let mut values: Vec<Sum> = usage.values().map(|(_, value)| *value).collect();
    let thresholds = AbcThresholds::of(&mut values);
    drop(values);
    let mut summary = ReportSummary::new(now, settings.window_days);
    let mut after = i64::MIN;
    loop {
        let from = after;
        let read = async move |conn: &mut Conn| {
            let batch = shop::products(conn, from, day_of(now) - YEAR, BATCH_PRODUCTS).await?;
            let (products, facts): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
            let figures = assess(conn, settings, &products, now).await?;
            Ok(products.into_iter().zip(facts).zip(figures).collect())
        };
        let batch: Vec<_> = db.report::<_, Error, _>(read).await?;
        let Some(((last, _), _)) = batch.last() else {
            return Ok(summary);
        };
        after = last.id;
        for ((product, facts), figures) in batch {
            // A product may have been created after its usage was read.
            let usage = usage.remove(&product.id).unwrap_or_default();
            let line = ReportLine::new((product, &facts), &figures, usage, thresholds, now);
            write(&line)?;
            summary.add(&line);
        }
    }
}

/// The yearly usage of every product by id (units, value), which the ABC classes need at once.
async fn usage(db: &Db, now: Timestamp) -> Result<BTreeMap<i64, (i128, Sum)>, Error> {
    let mut all = BTreeMap::new();
    let (mut after, from) = (i64::MIN, day_of(now) - YEAR);
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
