//! One product's line of the report.

use db::Timestamp;
use serde::Serialize;

use super::super::{
    model::{
        Figures, Variability,
        portfolio::{self, Abc, AbcThresholds},
    },
    store::{history::AnalysedProduct, shop::ReportFacts},
};
use crate::{
    aggregates::{DAY, Sum, day_of},
    rest::spreadsheet::escape,
};

/// Stock is dead after this many days without an outflow: a common figure, not a standard.
pub(super) const DEAD_AFTER: i64 = 90;
/// A product is slow if its stock lasts longer than this many days.
pub(super) const SLOW_BEYOND: i64 = 180;

/// One product in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportLine {
    /// The product's id.
    pub product: i64,
    /// The product's title.
    pub title: String,
    /// The ABC class: the share of the yearly usage at cost.
    pub abc: Abc,
    /// The XYZ class: the variability of demand. `None` if there is too little history.
    pub xyz: Option<Variability>,
    /// Units in stock.
    pub quantity: i64,
    /// The low-stock threshold, in units.
    pub threshold: i64,
    /// The value of the stock at cost.
    #[serde(serialize_with = "crate::rest::json::total")]
    pub stock_value: Sum,
    /// Units that went out in the last year.
    pub yearly_units: i128,
    /// The value of `yearly_units` at today's cost.
    #[serde(serialize_with = "crate::rest::json::total")]
    pub yearly_value: Sum,
    /// The value of the stock one year ago, at today's cost.
    #[serde(serialize_with = "crate::rest::json::total")]
    pub opening_value: Sum,
    /// The forecast demand, in units per day. `None` if there is too little history.
    pub demand_per_day: Option<f64>,
    /// How many days the stock lasts.
    pub days_of_cover: Option<f64>,
    /// The reorder point, in units.
    pub reorder_point: Option<f64>,
    /// The order-up-to level, in units.
    pub order_up_to: Option<f64>,
    /// Units to order now.
    pub suggested_quantity: Option<i64>,
    /// The cost of `suggested_quantity`.
    #[serde(serialize_with = "crate::rest::json::total")]
    pub order_value: Sum,
    /// Units above the order-up-to level.
    pub excess_units: i64,
    /// The value of `excess_units` at cost.
    #[serde(serialize_with = "crate::rest::json::total")]
    pub excess_value: Sum,
    /// Days since that of the last outflow. `None` if there was none.
    pub days_since_outflow: Option<i64>,
    /// Whether there is stock and nothing went out for `DEAD_AFTER` days.
    pub is_dead: bool,
    /// Whether the stock lasts longer than `SLOW_BEYOND` days.
    pub is_slow: bool,
}

impl ReportLine {
    pub(super) fn new(
        (product, facts): (AnalysedProduct, &ReportFacts),
        figures: &Figures,
        (yearly_units, yearly_value): (i128, Sum),
        thresholds: AbcThresholds,
        now: Timestamp,
    ) -> Self {
        let days_since = |time: Timestamp| {
            let days = day_of(now).since(day_of(time)).as_secs() / DAY.as_secs();
            i64::try_from(days).unwrap_or(i64::MAX)
        };
        let since_outflow = facts.last_outflow.map(days_since);
        let age = facts.first_entry.map_or(0, days_since);
        let value = |units: i64| Sum::worth(facts.cost, units);
        let forecast = figures.forecast.as_ref();
        let excess = forecast.map_or(0, |forecast| {
            portfolio::excess(product.quantity, forecast.order_up_to)
        });
        let cover = forecast.map(|forecast| forecast.days_of_cover);
        let suggested = figures.suggested_quantity();
        Self {
            product: product.id,
            title: product.title,
            abc: thresholds.class(yearly_value),
            xyz: forecast.map(|forecast| forecast.variability),
            quantity: product.quantity,
            threshold: figures.threshold,
            stock_value: value(product.quantity),
            yearly_units,
            yearly_value,
            opening_value: value(facts.opening.unwrap_or(0)),
            demand_per_day: forecast.map(|forecast| forecast.per_day),
            days_of_cover: cover,
            reorder_point: forecast.map(|forecast| forecast.reorder_point),
            order_up_to: forecast.map(|forecast| forecast.order_up_to),
            suggested_quantity: suggested,
            order_value: value(suggested.unwrap_or(0)),
            excess_units: excess,
            excess_value: value(excess),
            days_since_outflow: since_outflow,
            is_dead: portfolio::is_dead(product.quantity, since_outflow, age, DEAD_AFTER),
            is_slow: portfolio::is_slow(cover, SLOW_BEYOND),
        }
    }

    /// The column names of the CSV.
    pub const COLUMNS: [&'static str; 21] = [
        "product",
        "title",
        "abc",
        "xyz",
        "quantity",
        "threshold",
        "stock_value",
        "yearly_units",
        "yearly_value",
        "opening_value",
        "demand_per_day",
        "days_of_cover",
        "reorder_point",
        "order_up_to",
        "suggested_quantity",
        "order_value",
        "excess_units",
        "excess_value",
        "days_since_outflow",
        "is_dead",
        "is_slow",
    ];

    /// The line's cells, in the order of `COLUMNS`.
    pub fn cells(&self) -> [String; 21] {
        let number =
            |value: Option<f64>| value.map(|value| format!("{value:.2}")).unwrap_or_default();
        let integer = |value: Option<i64>| value.map(|value| value.to_string()).unwrap_or_default();
        let xyz = self.xyz.map(|group| format!("{group:?}"));
        [
            self.product.to_string(),
            escape(&self.title).into_owned(),
            format!("{:?}", self.abc),
            xyz.unwrap_or_default(),
            self.quantity.to_string(),
            self.threshold.to_string(),
            self.stock_value.hundredths(),
            self.yearly_units.to_string(),
            self.yearly_value.hundredths(),
            self.opening_value.hundredths(),
            number(self.demand_per_day),
            number(self.days_of_cover),
            number(self.reorder_point),
            number(self.order_up_to),
            integer(self.suggested_quantity),
            self.order_value.hundredths(),
            self.excess_units.to_string(),
            self.excess_value.hundredths(),
            integer(self.days_since_outflow),
            self.is_dead.to_string(),
            self.is_slow.to_string(),
        ]
    }
}
