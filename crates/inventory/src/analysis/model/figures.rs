//! All computed figures of one product. Texts show them, and no model may change them.

use serde::{Deserialize, Serialize};

use super::{
    Class, Demand, Terms, round_down,
    smoothing::{Croston, DAY_WEIGHT, DEMAND_WEIGHT, simple},
    supply,
};

/// The fewest days with demand for which a forecast is made.
pub const LEAST_DEMAND_DAYS: i64 = 3;
/// The fewest days with stock for which a forecast is made.
pub const LEAST_DAYS: i64 = 7;

/// The figures of one product at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Units in stock.
    pub quantity: i64,
    /// The low-stock threshold, in units.
    pub threshold: i64,
    /// Days of history.
    pub days: i64,
    /// The days on which there was stock.
    pub available_days: i64,
    /// The days on which something went out.
    pub demand_days: i64,
    /// Units that went out in the history.
    pub units: i64,
    /// The supply terms that were assumed.
    pub terms: Terms,
    /// The forecast. `None` if there is too little history.
    pub forecast: Option<Forecast>,
}

/// The expected demand of a product, and the order that follows from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// The class of the demand.
    pub class: Class,
    /// The method of the forecast, which depends on the class.
    pub method: ForecastMethod,
    /// The forecast demand, in units per day.
    pub per_day: f64,
    /// The standard deviation of daily units.
    pub deviation: f64,
    /// The mean number of days between demands.
    pub interval: f64,
    /// The squared coefficient of variation of the quantities.
    pub size_variation: f64,
    /// The variability of daily demand.
    pub variability: Variability,
    /// The safety stock, in units.
    pub safety_stock: f64,
    /// The reorder point, in units.
    pub reorder_point: f64,
    /// The order-up-to level, in units.
    pub order_up_to: f64,
    /// How many days the stock lasts.
    pub days_of_cover: f64,
    /// Whole days until the stock runs out.
    pub runs_out_in: i64,
    /// Whole days until the latest time to order. 0 or less means now; at least 1 while no order is
    /// due.
    pub order_in: i64,
    /// Whether an order is due: the stock is at or below the reorder point, or below the threshold.
    pub is_due: bool,
    /// Units to order now. 0 if no order is due.
    pub suggested_quantity: i64,
}

/// The forecasting method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForecastMethod {
    /// The mean of the days with stock.
    Mean,
    /// Simple exponential smoothing.
    Smoothing,
    /// Croston's method with the correction of Syntetos and Boylan.
    CrostonCorrected,
}

/// The variability of daily demand (XYZ class), by its coefficient of variation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Variability {
    /// Below 0.5: steady.
    X,
    /// Below 1.
    Y,
    /// From 1: erratic.
    Z,
}

impl Variability {
    /// The class of a coefficient of variation.
    pub fn of(variation: f64) -> Self {
        if variation < 0.5 {
            Self::X
        } else if variation < 1.0 {
            Self::Y
        } else {
            Self::Z
        }
    }
}

impl Figures {
    /// Computes the figures from a product's demand, stock, threshold and terms.
    pub fn of(demand: &Demand, quantity: i64, threshold: i64, terms: Terms) -> Self {
        Self {
            quantity,
            threshold,
            days: demand.days,
            available_days: demand.available_days(),
            demand_days: demand.demand_days(),
            units: demand.units,
            terms,
            forecast: Forecast::of(demand, quantity, threshold, &terms),
        }
    }

    /// Units to order now. `None` without a forecast.
    pub fn suggested_quantity(&self) -> Option<i64> {
        Some(self.forecast.as_ref()?.suggested_quantity)
    }

    /// Units to order now. Without a forecast, the units missing to the threshold, in whole packs.
    pub fn order_quantity(&self) -> i64 {
        let to_threshold = || {
            let threshold = super::real(self.threshold);
            supply::order_quantity(threshold, self.quantity, self.terms.pack_multiple)
        };
        self.suggested_quantity().unwrap_or_else(to_threshold)
    }

    /// Whether the threshold sets the order-up-to level, because the forecast asks for less or is
    /// absent.
    pub fn is_level_threshold(&self) -> bool {
        let level = self.forecast.as_ref().map(|forecast| forecast.order_up_to);
        level.is_none_or(|level| level <= super::real(self.threshold))
    }

    /// Units missing to the threshold, at least 0.
    pub fn missing_to_threshold(&self) -> i64 {
        self.threshold.saturating_sub(self.quantity).max(0)
    }
}

impl Forecast {
    /// Computes the forecast. `None` if there are too few days or nothing was sold.
    pub fn of(demand: &Demand, quantity: i64, threshold: i64, terms: &Terms) -> Option<Self> {
        if !demand.is_enough() {
            return None;
        }
        let class = demand.class();
        let (method, per_day) = per_day(demand, class)?;
        let (lead, deviation) = (terms.lead_time, demand.deviation());
        let cycle = lead + terms.review_interval;
        let safety = |days| {
            let factor = terms.service_factor();
            supply::safety_stock(factor, deviation, per_day, days, terms.lead_time_deviation)
        };
        let safety_stock = safety(lead);
        let reorder_point = supply::level(per_day, lead, safety_stock);
        // The shop sets the threshold, so an order always reaches it.
        let order_up_to = supply::level(per_day, cycle, safety(cycle)).max(super::real(threshold));
        let is_due = quantity <= round_down(reorder_point) || quantity < threshold;
        let days_of_cover = supply::days_of_cover(quantity, per_day)?;
        let until_order = round_down(days_of_cover - lead);
        let suggested_quantity = if is_due {
            supply::order_quantity(order_up_to, quantity, terms.pack_multiple)
        } else {
            0
        };
        Some(Self {
            class,
            method,
            per_day,
            deviation,
            interval: demand.interval(),
            size_variation: demand.size_variation(),
            variability: Variability::of(demand.variation()),
            safety_stock,
            reorder_point,
            order_up_to,
            days_of_cover,
            runs_out_in: round_down(days_of_cover),
            order_in: if is_due {
                until_order
            } else {
                until_order.max(1)
            },
            is_due,
            suggested_quantity,
        })
    }
}

/// The forecast of daily demand, by class. `None` when nothing sells.
fn per_day(demand: &Demand, class: Class) -> Option<(ForecastMethod, f64)> {
    let (method, per_day) = match class {
        Class::Smooth => (ForecastMethod::Mean, demand.mean()),
        Class::Erratic => (
            ForecastMethod::Smoothing,
            simple(&demand.series, DAY_WEIGHT),
        ),
        Class::Intermittent | Class::Lumpy => (
            ForecastMethod::CrostonCorrected,
            Croston::of(&demand.series, DEMAND_WEIGHT)?.corrected_per_day(),
        ),
    };
    (per_day > 0.0).then_some((method, per_day))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Day, smoothing},
        *,
    };

    const SERIES: [i64; 28] = [
        3, 0, 5, 2, 4, 0, 1, 6, 2, 3, 0, 4, 5, 2, 1, 0, 7, 3, 2, 4, 0, 5, 3, 2, 6, 1, 0, 4,
    ];

    fn demand(units: &[i64]) -> Demand {
        Demand::of(&Day::all_in_stock(units))
    }

    fn figures(units: &[i64], quantity: i64, threshold: i64) -> Figures {
        Figures::of(&demand(units), quantity, threshold, Terms::default())
    }

    #[track_caller]
    fn is(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }

    #[test]
    fn the_worked_example_of_demand_comes_out_to_six_places() {
        let demand = demand(&SERIES);
        assert_eq!((demand.units, demand.demand_days()), (75, 22));
        is(demand.mean(), 2.678_571);
        is(demand.deviation(), 2.091_492);
        is(demand.interval(), 1.272_727);
        is(demand.size_variation(), 0.259_437);
        assert_eq!(demand.class(), Class::Smooth);
        is(smoothing::simple(&demand.series, 0.2), 2.673_766);
        let croston = Croston::of(&demand.series, 0.1).unwrap();
        is(croston.size, 3.376_732);
        is(croston.interval, 1.252_045);
        is(croston.per_day(), 2.696_974);
        is(croston.corrected_per_day(), 2.562_125);
    }

    #[test]
    fn the_worked_example_of_supply_comes_out_to_six_places() {
        let forecast = figures(&SERIES, 23, 10).forecast.unwrap();
        assert_eq!(forecast.method, ForecastMethod::Mean);
        is(forecast.safety_stock, 9.101_909);
        is(forecast.reorder_point, 27.851_909);
        is(forecast.order_up_to, 50.372_043);
        is(forecast.days_of_cover, 8.586_667);
        assert_eq!((forecast.runs_out_in, forecast.order_in), (8, 1));
        assert!(forecast.is_due);
        assert_eq!(forecast.suggested_quantity, 28);

        let varying = Terms {
            lead_time_deviation: 2.0,
            ..Terms::default()
        };
        let figures = Figures::of(&demand(&SERIES), 23, 10, varying);
        let forecast = figures.forecast.unwrap();
        is(forecast.safety_stock, 12.668_507);
        is(forecast.reorder_point, 31.418_507);

        let level = supply::level(demand(&SERIES).mean(), 7.0, 10.0);
        is(level, 28.75);
    }

    #[test]
    fn a_shelf_above_its_reorder_point_needs_no_order() {
        let forecast = figures(&SERIES, 90, 10).forecast.unwrap();
        assert!(!forecast.is_due);
        assert_eq!(forecast.suggested_quantity, 0);
    }

    #[test]
    fn exactly_at_its_reorder_point_a_product_is_ordered() {
        let terms = Terms {
            service_level: 50.0,
            lead_time: 21.0,
            ..Terms::default()
        };
        // 17 units in 7 days: 51 for the lead time, 68 with the review.
        let figures = Figures::of(&demand(&[2, 3, 2, 3, 2, 3, 2]), 51, 10, terms);
        assert!(figures.forecast.as_ref().unwrap().is_due);
        assert_eq!(figures.suggested_quantity(), Some(17));
    }

    #[test]
    fn below_its_threshold_a_slow_product_is_ordered_up_to_it() {
        let seldom = [
            1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
        ];
        let forecast = figures(&seldom, 30, 50).forecast.unwrap();
        assert_eq!(forecast.class, Class::Intermittent);
        assert!(forecast.is_due);
        assert_eq!(forecast.suggested_quantity, 20);
    }

    #[test]
    fn what_needs_no_order_today_need_not_be_ordered_before_tomorrow() {
        let forecast = figures(&[3; 28], 22, 10).forecast.unwrap();
        is(forecast.reorder_point, 21.0);
        assert!(!forecast.is_due && forecast.days_of_cover < 8.0);
        assert_eq!(forecast.order_in, 1);
    }

    #[test]
    fn an_order_is_of_whole_packs_and_reaches_the_threshold_without_a_forecast_too() {
        let packs = Terms {
            pack_multiple: 6,
            ..Terms::default()
        };
        let unknown = Figures::of(&demand(&[]), 3, 10, packs);
        assert_eq!(
            (unknown.order_quantity(), unknown.is_level_threshold()),
            (12, true)
        );
        let known = Figures::of(&demand(&SERIES), 9, 10, packs);
        assert_eq!(
            (known.order_quantity(), known.is_level_threshold()),
            (42, false)
        );
        let wanted = Figures::of(&demand(&SERIES), 9, 90, packs);
        assert_eq!(
            (wanted.order_quantity(), wanted.is_level_threshold()),
            (84, true)
        );
    }

    #[test]
    fn too_little_history_is_not_foretold_from() {
        for units in [&[5, 5, 5][..], &[9, 0, 0, 0, 0, 0, 0, 0, 9], &[0; 30], &[]] {
            let figures = figures(units, 3, 10);
            assert_eq!(figures.forecast, None, "{units:?}");
            assert_eq!(figures.suggested_quantity(), None);
            assert_eq!(figures.missing_to_threshold(), 7);
        }
    }

    #[test]
    fn figures_are_kept_as_json_and_read_back() {
        let figures = figures(&SERIES, 23, 10);
        let text = serde_json::to_string(&figures).unwrap();
        assert_eq!(serde_json::from_str::<Figures>(&text).unwrap(), figures);
    }
}
