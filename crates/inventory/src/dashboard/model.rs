//! Computes periods, sales, and comparisons with the previous period.

use std::collections::BTreeMap;

use db::Timestamp;

use crate::aggregates::{DAY, DayAggregate, Sum, day_of};

/// The period that is shown. It ends today.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Period {
    Week,
    #[default]
    Month,
    Quarter,
    Year,
}

impl Period {
    pub(crate) const ALL: [Self; 4] = [Self::Week, Self::Month, Self::Quarter, Self::Year];

    pub(crate) const fn days(self) -> u32 {
        match self {
            Self::Week => 7,
            Self::Month => 30,
            Self::Quarter => 90,
            Self::Year => 365,
        }
    }

    /// The period with this number of days, as in the query string.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|period| period.days().to_string() == text)
    }

    /// The start of the first day, if `now` is on the last day.
    pub(crate) fn begin(self, now: Timestamp) -> Timestamp {
        day_of(now) + DAY - DAY * self.days()
    }

    /// The start of the previous period.
    pub(crate) fn begin_before(self, now: Timestamp) -> Timestamp {
        self.begin(now) - DAY * self.days()
    }

    /// The start of each day.
    pub(crate) fn each_day(self, now: Timestamp) -> impl Iterator<Item = Timestamp> {
        let begin = self.begin(now);
        (0..self.days()).map(move |number| begin + DAY * number)
    }
}

/// The prices at which sales are valued.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Prices {
    /// The prices at the time of the sale.
    #[default]
    AtSale,
    Present,
}

/// The sales of a number of days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sales {
    pub(crate) outflows: i64,
    pub(crate) units: Sum,
    /// The value at selling prices, in hundredths.
    pub(crate) value: Sum,
    /// The value at cost prices, in hundredths.
    pub(crate) cost: Sum,
}

impl Sales {
    pub(crate) fn of(aggregate: &DayAggregate, prices: Prices) -> Self {
        let (value, cost) = match prices {
            Prices::AtSale => (aggregate.value, aggregate.cost),
            Prices::Present => (aggregate.present_value, aggregate.present_cost),
        };
        Self {
            outflows: aggregate.movements,
            units: aggregate.units,
            value,
            cost,
        }
    }

    /// The profit in hundredths. Negative if goods were sold below cost.
    pub(crate) fn profit(&self) -> Sum {
        self.value - self.cost
    }
}

/// The sales of each day of a period, and the total of the previous period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SalesTrend {
    pub(crate) days: Vec<(Timestamp, Sales)>,
    pub(crate) total: Sales,
    pub(crate) before: Sales,
}

impl SalesTrend {
    /// Computes the trend from the aggregates of both periods.
    pub(crate) fn of(
        aggregates: &BTreeMap<Timestamp, DayAggregate>,
        period: Period,
        prices: Prices,
        now: Timestamp,
    ) -> Self {
        let total = |from: Timestamp| {
            let mut sum = DayAggregate::default();
            for (_, aggregate) in aggregates.range(from..from + DAY * period.days()) {
                sum.add(aggregate);
            }
            Sales::of(&sum, prices)
        };
        let day = |day| {
            let aggregate = aggregates.get(&day).copied().unwrap_or_default();
            (day, Sales::of(&aggregate, prices))
        };
        Self {
            days: period.each_day(now).map(day).collect(),
            total: total(period.begin(now)),
            before: total(period.begin_before(now)),
        }
    }
}

/// The largest change that is shown as a percentage. Larger ones are shown without a number.
const MAX_PERCENT: u64 = 9_999;

/// The change of a figure from the previous period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SalesChange {
    /// The increase in percent. `None` if the value before was not positive, or above the maximum.
    More(Option<u64>),
    /// The decrease in percent. `None` as in `More`.
    Less(Option<u64>),
    Same,
}

impl SalesChange {
    pub(crate) fn between(before: Sum, now: Sum) -> Self {
        if now == before {
            return Self::Same;
        }
        let share = (before > Sum::ZERO).then(|| per_cent(now - before, before));
        let share = share.filter(|share| *share <= MAX_PERCENT);
        if now > before {
            Self::More(share)
        } else {
            Self::Less(share)
        }
    }
}

/// A ratio in percent, rounded, without its sign.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "without a sign, and a share too large for a number is cut at the greatest"
)]
fn per_cent(part: Sum, whole: Sum) -> u64 {
    (part.approximately() / whole.approximately() * 100.0)
        .abs()
        .round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: &str = "2026-11-20T12:00:00Z";

    fn time(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn a_figure_is_compared_in_words_and_per_cent() {
        let between = |before: i64, now: i64| SalesChange::between(before.into(), now.into());
        assert_eq!(between(100, 112), SalesChange::More(Some(12)));
        assert_eq!(between(100, 0), SalesChange::Less(Some(100)));
        assert_eq!(between(300, 299), SalesChange::Less(Some(0)));
        assert_eq!(between(7, 7), SalesChange::Same);
        assert_eq!(between(0, 5), SalesChange::More(None));
        assert_eq!(between(1, 100), SalesChange::More(Some(9_900)));
        assert_eq!(between(1, i64::MAX), SalesChange::More(None));
        assert_eq!(between(-10, -20), SalesChange::Less(None));
    }

    #[test]
    fn days_without_sales_are_shown_too_and_both_periods_add_up() {
        let now = time(NOON);
        let aggregate = |units: i64| DayAggregate {
            movements: 1,
            units: units.into(),
            cost: (units * 5).into(),
            value: (units * 8).into(),
            present_cost: (units * 6).into(),
            present_value: (units * 9).into(),
        };
        let aggregates = [("2026-11-20", 2), ("2026-11-14", 3), ("2026-11-13", 7)]
            .map(|(day, units)| (time(&format!("{day}T00:00:00Z")), aggregate(units)))
            .into();
        let trend = SalesTrend::of(&aggregates, Period::Week, Prices::AtSale, now);
        assert_eq!((trend.days.len(), trend.total.outflows), (7, 2));
        assert_eq!(trend.total.profit(), 15.into());
        assert_eq!(trend.before.value, 56.into());
        let present = SalesTrend::of(&aggregates, Period::Week, Prices::Present, now);
        assert_eq!(present.total.value, 45.into());
    }
}
