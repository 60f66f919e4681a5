//! Computes the current figures of products: reads their sales history and applies the formulas.

use db::{Conn, Error, Money, Timestamp};

use super::{
    RestockTerms, history,
    model::{Demand, Figures, Terms, real},
    store::history::AnalysedProduct,
};
use crate::{Config, work::Policy};

/// The shop's settings that apply to all products.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RestockSettings {
    /// Supply terms of products that have none of their own.
    terms: Terms,
    /// The length of the history, in days.
    pub(super) window_days: i64,
    policy: Policy,
}

impl From<&Config> for RestockSettings {
    fn from(config: &Config) -> Self {
        Self {
            terms: config.analysis.terms,
            window_days: config.analysis.window_days,
            policy: config.into(),
        }
    }
}

impl RestockSettings {
    /// The threshold and the terms of a product: its own, and the shop's where they are absent.
    fn of_product(&self, threshold: Option<i64>, own: RestockTerms) -> (i64, Terms) {
        let decimal = |value: Money| real(i64::try_from(value.cents()).unwrap_or(0)) / 100.0;
        let shop = &self.terms;
        let terms = Terms {
            lead_time: own.lead_time_days.map_or(shop.lead_time, real),
            lead_time_deviation: own
                .lead_time_deviation_days
                .map_or(shop.lead_time_deviation, decimal),
            service_level: own.service_level.map_or(shop.service_level, decimal),
            review_interval: own.review_interval_days.map_or(shop.review_interval, real),
            pack_multiple: own.pack_multiple.unwrap_or(shop.pack_multiple),
        };
        (self.policy.threshold_of(threshold), terms)
    }
}

/// Computes the figures of these products, in the same order. The number of SQL statements does not
/// depend on the number of products.
pub(crate) async fn assess(
    conn: &mut Conn,
    settings: RestockSettings,
    products: &[AnalysedProduct],
    now: Timestamp,
) -> Result<Vec<Figures>, Error> {
    let ids: Vec<i64> = products.iter().map(|product| product.id).collect();
    let days = history::days(conn, &ids, settings.window_days, now).await?;
    let figures = products.iter().map(|product| {
        let days = days.get(&product.id).map_or(&[][..], Vec::as_slice);
        let (threshold, terms) = settings.of_product(product.threshold, product.terms);
        Figures::of(
            &Demand::until_today(days),
            product.quantity,
            threshold,
            terms,
        )
    });
    Ok(figures.collect())
}
