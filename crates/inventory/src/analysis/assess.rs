//! The figures of products as they stand now: what is read of them, and what the formulas make of it.

use db::{Conn, Error, Timestamp};

use super::{
    history,
    model::{Demand, Figures, Terms, real},
    store::history::{OwnTerms, Subject},
};
use crate::{Config, stock::Policy};

/// What the shop's settings say of all products.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shop {
    /// What is assumed of supply.
    terms: Terms,
    /// The most days of history.
    window_days: i64,
    policy: Policy,
}

impl From<&Config> for Shop {
    fn from(config: &Config) -> Self {
        Self {
            terms: config.analysis.terms,
            window_days: config.analysis.window_days,
            policy: config.into(),
        }
    }
}

/// The figures of these products, in their order, by a number of statements that does not depend on how many they are.
pub(crate) async fn assess(
    conn: &mut Conn,
    shop: Shop,
    subjects: &[Subject],
    now: Timestamp,
) -> Result<Vec<Figures>, Error> {
    let ids: Vec<i64> = subjects.iter().map(|subject| subject.id).collect();
    let days = history::days(conn, &ids, shop.window_days, now).await?;
    let figures = subjects.iter().map(|subject| {
        let days = days.get(&subject.id).map_or(&[][..], Vec::as_slice);
        let threshold = shop.policy.threshold_of(subject.threshold);
        let terms = terms(shop.terms, subject.terms);
        Figures::of(&Demand::of(days), subject.quantity, threshold, terms)
    });
    Ok(figures.collect())
}

/// What is known of a product's supply, and of the rest what the shop assumes.
pub(super) fn terms(shop: Terms, own: OwnTerms) -> Terms {
    let hundredths = |value: i64| real(value) / 100.0;
    Terms {
        lead_time: own.lead_time.map_or(shop.lead_time, real),
        lead_time_deviation: own
            .lead_time_deviation
            .map_or(shop.lead_time_deviation, hundredths),
        service_level: own.service_level.map_or(shop.service_level, hundredths),
        review_interval: own.review_interval.map_or(shop.review_interval, real),
        pack_multiple: own.pack_multiple.unwrap_or(shop.pack_multiple),
    }
}
