//! Demand, derived from outflows: units per day including days without sales, corrected for days
//! without stock, and its class.

use serde::{Deserialize, Serialize};

use super::{
    figures::{LEAST_DAYS, LEAST_DEMAND_DAYS},
    real,
};

/// One day of a product's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Day {
    /// Units that went out on the day.
    pub units: i64,
    /// Whether there was stock at any time of the day.
    pub in_stock: bool,
}

impl Day {
    /// A day with stock, on which this many units went out.
    pub const fn in_stock(units: i64) -> Self {
        Self {
            units,
            in_stock: true,
        }
    }

    /// Days with stock, on which these units went out.
    #[cfg(test)]
    pub(crate) fn all_in_stock(units: &[i64]) -> Vec<Self> {
        units.iter().copied().map(Self::in_stock).collect()
    }
}

/// The demand in a product's history. A day without stock tells nothing about demand: it counts in
/// `days` and nowhere else.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// Days of history.
    pub days: i64,
    /// Units on each day with stock, oldest first.
    pub series: Vec<f64>,
    /// The sum of units.
    pub units: i64,
}

/// The classes of demand by Syntetos and Boylan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Frequent demand in similar quantities.
    Smooth,
    /// Frequent demand in varying quantities.
    Erratic,
    /// Infrequent demand in similar quantities.
    Intermittent,
    /// Infrequent demand in varying quantities. Hard to forecast.
    Lumpy,
}

/// Demand is intermittent from this mean number of days between demands on.
const INTERMITTENT: f64 = 1.32;
/// Quantities count as varying from this squared coefficient of variation on.
const VARYING: f64 = 0.49;

impl Demand {
    /// The demand of these days, oldest first. A day with an outflow counts as a day with stock.
    pub fn of(days: &[Day]) -> Self {
        let available = days.iter().filter(|day| day.in_stock || day.units > 0);
        Self {
            days: i64::try_from(days.len()).unwrap_or(i64::MAX),
            series: available.map(|day| real(day.units)).collect(),
            units: days
                .iter()
                .fold(0, |sum, day| sum.saturating_add(day.units)),
        }
    }

    /// The demand of a history that ends today. Today is not over, so it counts only while the days
    /// before it are too few for a forecast.
    pub fn until_today(days: &[Day]) -> Self {
        let before_today = days.split_last().map_or(days, |(_, before)| before);
        let demand = Self::of(before_today);
        if demand.is_enough() {
            demand
        } else {
            Self::of(days)
        }
    }

    /// Whether there are enough days for a forecast.
    pub fn is_enough(&self) -> bool {
        self.available_days() >= LEAST_DAYS && self.demand_days() >= LEAST_DEMAND_DAYS
    }

    /// The number of days with stock.
    pub fn available_days(&self) -> i64 {
        count(&self.series)
    }

    /// The number of days with an outflow.
    pub fn demand_days(&self) -> i64 {
        count(&self.sizes())
    }

    /// The mean units per day with stock, `d`.
    pub fn mean(&self) -> f64 {
        mean(&self.series)
    }

    /// The sample standard deviation of daily units, `σd`. 0 for fewer than two days.
    pub fn deviation(&self) -> f64 {
        deviation(&self.series)
    }

    /// The mean number of days between demands, `ADI`. Infinite without demand.
    pub fn interval(&self) -> f64 {
        real(self.available_days()) / real(self.demand_days())
    }

    /// The squared coefficient of variation of the quantities on days with demand, `CV²`. 0 without
    /// demand.
    pub fn size_variation(&self) -> f64 {
        let sizes = self.sizes();
        if sizes.is_empty() {
            return 0.0;
        }
        (deviation(&sizes) / mean(&sizes)).powi(2)
    }

    /// The coefficient of variation of daily units. Not finite without demand.
    pub fn variation(&self) -> f64 {
        self.deviation() / self.mean()
    }

    /// The class of this demand.
    pub fn class(&self) -> Class {
        match (
            self.interval() >= INTERMITTENT,
            self.size_variation() >= VARYING,
        ) {
            (false, false) => Class::Smooth,
            (false, true) => Class::Erratic,
            (true, false) => Class::Intermittent,
            (true, true) => Class::Lumpy,
        }
    }

    fn sizes(&self) -> Vec<f64> {
        let sizes = self.series.iter().copied().filter(|units| *units > 0.0);
        sizes.collect()
    }
}

fn count(values: &[f64]) -> i64 {
    i64::try_from(values.len()).unwrap_or(i64::MAX)
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.iter().sum::<f64>() / real(count(values))
}

fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / real(count(values) - 1)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_without_stock_says_nothing_of_demand() {
        let mut history = Day::all_in_stock(&[2, 4, 0, 0]);
        history.push(Day::default());
        history.push(Day::default());
        let demand = Demand::of(&history);
        assert_eq!((demand.days, demand.available_days()), (6, 4));
        assert!((demand.mean() - 1.5).abs() < 1e-12);
    }

    #[test]
    fn a_day_on_which_something_went_out_had_stock() {
        let sold_out = Day {
            units: 3,
            in_stock: false,
        };
        assert_eq!(Demand::of(&[sold_out]).available_days(), 1);
    }

    #[test]
    fn today_counts_only_while_the_days_before_it_are_too_few() {
        let days = |units: &[i64]| {
            let demand = Demand::until_today(&Day::all_in_stock(units));
            (demand.days, demand.units)
        };
        assert_eq!(days(&[]), (0, 0));
        assert_eq!(days(&[9]), (1, 9));
        assert_eq!(days(&[1, 2, 0, 0, 0, 0, 0, 9]), (8, 12));
        assert_eq!(days(&[1, 2, 3, 0, 0, 0, 9]), (7, 15));
        assert_eq!(days(&[1, 2, 3, 0, 0, 0, 0, 9]), (7, 6));
    }

    #[test]
    fn each_kind_of_demand_is_known_by_its_gaps_and_its_sizes() {
        let class = |units: &[i64]| Demand::of(&Day::all_in_stock(units)).class();
        assert_eq!(class(&[3, 3, 4, 3, 2, 3]), Class::Smooth);
        assert_eq!(class(&[1, 20, 1, 1, 30, 2]), Class::Erratic);
        assert_eq!(class(&[3, 0, 0, 3, 0, 3]), Class::Intermittent);
        assert_eq!(class(&[1, 0, 0, 40, 0, 2]), Class::Lumpy);
    }

    #[test]
    fn no_history_is_no_demand() {
        let demand = Demand::of(&[]);
        assert_eq!((demand.days, demand.units, demand.demand_days()), (0, 0, 0));
        assert!(demand.mean().abs() < 1e-12 && demand.size_variation().abs() < 1e-12);
    }
}
