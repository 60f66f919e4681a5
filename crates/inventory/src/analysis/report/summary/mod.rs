//! The summary of a report: totals over all its lines. `text` renders it.

mod text;

use db::Timestamp;
use serde::Serialize;

use super::ReportLine;
use crate::{
    aggregates::Sum,
    analysis::{model::portfolio::Abc, text::clean},
    level::is_low,
};

/// How many products each list of the text names.
const NAMED: usize = 10;

/// Totals over all lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportSummary {
    #[serde(serialize_with = "crate::rest::json::time")]
    created_at: Timestamp,
    window_days: i64,
    products: i64,
    classes: [ClassTotals; 4],
    #[serde(serialize_with = "crate::rest::json::total")]
    stock_value: Sum,
    #[serde(serialize_with = "crate::rest::json::total")]
    opening_value: Sum,
    #[serde(serialize_with = "crate::rest::json::total")]
    yearly_value: Sum,
    out_of_stock: i64,
    low: i64,
    due: ProductGroup,
    dead: ProductGroup,
    slow: ProductGroup,
    excess: ProductGroup,
    /// Products with too little history for a forecast.
    #[serde(rename = "unforeseen")]
    without_forecast: i64,
    covered: [i64; 4],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct ClassTotals {
    name: Abc,
    products: i64,
    #[serde(serialize_with = "crate::rest::json::total")]
    yearly_value: Sum,
    #[serde(serialize_with = "crate::rest::json::total")]
    stock_value: Sum,
}

/// A group of products: their number, their value, and the products of the highest value.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct ProductGroup {
    products: i64,
    #[serde(serialize_with = "crate::rest::json::total")]
    value: Sum,
    first: Vec<GroupedProduct>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct GroupedProduct {
    product: i64,
    title: String,
    units: i64,
    #[serde(serialize_with = "crate::rest::json::total")]
    value: Sum,
}

impl ProductGroup {
    /// Adds a product. `first` holds the products of the highest value, in descending order.
    fn add(&mut self, line: &ReportLine, units: i64, value: Sum) {
        self.products += 1;
        self.value += value;
        let position = self.first.partition_point(|named| named.value >= value);
        if position < NAMED {
            let product = GroupedProduct {
                product: line.product,
                title: clean(&line.title, 120),
                units,
                value,
            };
            self.first.insert(position, product);
            self.first.truncate(NAMED);
        }
    }
}

impl ReportSummary {
    pub(super) fn new(created_at: Timestamp, window_days: i64) -> Self {
        Self {
            created_at,
            window_days,
            products: 0,
            classes: Abc::ALL.map(|name| ClassTotals {
                name,
                products: 0,
                yearly_value: Sum::ZERO,
                stock_value: Sum::ZERO,
            }),
            stock_value: Sum::ZERO,
            opening_value: Sum::ZERO,
            yearly_value: Sum::ZERO,
            out_of_stock: 0,
            low: 0,
            due: ProductGroup::default(),
            dead: ProductGroup::default(),
            slow: ProductGroup::default(),
            excess: ProductGroup::default(),
            without_forecast: 0,
            covered: [0; 4],
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.products == 0
    }

    pub(super) fn add(&mut self, line: &ReportLine) {
        self.products += 1;
        self.stock_value += line.stock_value;
        self.opening_value += line.opening_value;
        self.yearly_value += line.yearly_value;
        self.out_of_stock += i64::from(line.quantity == 0);
        self.low += i64::from(is_low(line.quantity, line.threshold));
        if let Some(class) = self.classes.iter_mut().find(|class| class.name == line.abc) {
            class.products += 1;
            class.yearly_value += line.yearly_value;
            class.stock_value += line.stock_value;
        }
        if let Some(units @ 1..) = line.suggested_quantity {
            self.due.add(line, units, line.order_value);
        }
        if line.is_dead {
            self.dead.add(line, line.quantity, line.stock_value);
        }
        if line.is_slow {
            self.slow.add(line, line.quantity, line.stock_value);
        }
        if line.excess_units > 0 {
            self.excess.add(line, line.excess_units, line.excess_value);
        }
        match line.days_of_cover {
            None => self.without_forecast += 1,
            Some(days) => {
                let position = [7.0, 30.0, 90.0]
                    .iter()
                    .take_while(|end| days >= **end)
                    .count();
                if let Some(count) = self.covered.get_mut(position) {
                    *count += 1;
                }
            }
        }
    }
}
