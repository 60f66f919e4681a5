//! The contents of the aggregates, and how a delta changes them.

use std::{collections::BTreeMap, fmt, time::Duration};

use db::{Money, Timestamp};
use resource::stored_enum;

use super::Sum;
use crate::movement::Movement;

/// 24 hours.
pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// The start of a time's day in UTC.
pub const fn day_of(time: Timestamp) -> Timestamp {
    let micros = time.micros();
    Timestamp::from_micros(micros - micros.rem_euclid(DAY_MICROS))
}

stored_enum! {
    /// The dimension by which stock is grouped.
    #[derive(PartialOrd, Ord)]
    pub enum Dimension {
        /// The product's category.
        Category = "category";
        /// The product's brand.
        Brand = "brand";
    }
}

/// The inflows or outflows of a day. Deleted movements are subtracted from the day on which they
/// were booked. Amounts are in hundredths, and 0 for inflows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DayAggregate {
    /// The number of movements.
    pub movements: i64,
    /// The sum of their units.
    pub units: Sum,
    /// Their value at the cost prices of the time of booking.
    pub cost: Sum,
    /// Their value at the selling prices of the time of booking.
    pub value: Sum,
    /// Their value at the current cost prices.
    pub present_cost: Sum,
    /// Their value at the current selling prices.
    pub present_value: Sum,
}

/// The stock of a group of products.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StockAggregate {
    /// The number of products.
    pub products: i64,
    /// The sum of their units.
    pub units: Sum,
    /// The value at cost prices, in hundredths.
    pub cost: Sum,
    /// The value at selling prices, in hundredths.
    pub value: Sum,
}

/// The key of a day's aggregate for one supplier, or for all ([`ALL_SUPPLIERS`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DayKey {
    pub(crate) movement: Movement,
    pub(crate) supplier: i64,
    pub(crate) day: Timestamp,
}

/// The range of ids of a day's movements, deleted ones included. Limits what lists of days read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdRange {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

/// The key of a range of ids: the kind and the day of the movements.
pub(crate) type IdRangeKey = (Movement, Timestamp);

/// The supplier id of the aggregates of all suppliers. No supplier has this id.
pub(crate) const ALL_SUPPLIERS: i64 = 0;

/// The key of a stock aggregate: the id of a category or brand.
pub(crate) type StockKey = (Dimension, i64);

/// The movements of a range of whole days: their number, and the range of their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MovementRange {
    pub(crate) count: u64,
    /// The smallest and largest id that any of them can have.
    pub(crate) ids: (i64, i64),
}

/// One recorded change that is not compacted yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delta {
    pub(crate) moved: Option<DayDelta>,
    pub(crate) category: i64,
    pub(crate) brand: i64,
    /// Products added, or removed if negative.
    pub(crate) products: i64,
    /// Units added to stock, or removed if negative.
    pub(crate) units: i64,
    /// The current price, for `units` and for revaluations.
    pub(crate) cost_price: Money,
    pub(crate) selling_price: Money,
    /// Products that became low, minus those that are no longer low.
    pub(crate) low: i64,
}

/// The effect of a change on a day's movements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DayDelta {
    pub(crate) movement: Movement,
    /// The supplier of an inflow.
    pub(crate) supplier: Option<i64>,
    pub(crate) day: Timestamp,
    /// 1 for a booking, -1 for a deletion, 0 for a revaluation.
    pub(crate) movements: i64,
    pub(crate) units: i64,
    /// The price at the time of booking.
    pub(crate) cost_price: Money,
    pub(crate) selling_price: Money,
    /// Units to value at the current prices, or (negative) to remove from that value.
    pub(crate) present: i64,
    /// The id of a booked movement.
    pub(crate) id: Option<i64>,
}

/// The sum of deltas.
#[derive(Debug, Clone, Default)]
pub(crate) struct Aggregates {
    pub(crate) days: BTreeMap<DayKey, DayAggregate>,
    pub(crate) stock: BTreeMap<StockKey, StockAggregate>,
    pub(crate) id_ranges: BTreeMap<IdRangeKey, IdRange>,
    /// The change of the number of low products. 0 in a recount, which would need the threshold.
    pub(crate) low: i64,
}

impl IdRange {
    const fn contains(self, other: Self) -> bool {
        self.first <= other.first && self.last >= other.last
    }
}

impl Delta {
    /// The delta of a movement without a change of stock. The prices are the current ones.
    pub(crate) const fn of_movement(
        moved: DayDelta,
        cost_price: Money,
        selling_price: Money,
    ) -> Self {
        Self {
            moved: Some(moved),
            category: 0,
            brand: 0,
            products: 0,
            units: 0,
            cost_price,
            selling_price,
            low: 0,
        }
    }
}

impl DayDelta {
    /// What the delta adds to its day. Inflows have no value: the cost of a delivery is unknown.
    fn aggregate(&self, cost_price: Money, selling_price: Money) -> DayAggregate {
        let units = Sum::from(self.units);
        let counted = DayAggregate {
            movements: self.movements,
            units,
            ..DayAggregate::default()
        };
        match self.movement {
            Movement::Inflow => counted,
            Movement::Outflow => DayAggregate {
                cost: Sum::worth(self.cost_price, self.units),
                value: Sum::worth(self.selling_price, self.units),
                present_cost: Sum::worth(cost_price, self.present),
                present_value: Sum::worth(selling_price, self.present),
                ..counted
            },
        }
    }
}

impl Aggregates {
    /// Adds a delta.
    pub(crate) fn add(&mut self, change: &Delta) {
        if let Some(moved) = &change.moved {
            let aggregate = moved.aggregate(change.cost_price, change.selling_price);
            for supplier in [Some(ALL_SUPPLIERS), moved.supplier].into_iter().flatten() {
                let key = DayKey {
                    movement: moved.movement,
                    supplier,
                    day: moved.day,
                };
                self.days.entry(key).or_default().add(&aggregate);
            }
            if let Some(id) = moved.id {
                self.widen_id_range(moved, id);
            }
        }
        self.low += change.low;
        if change.products == 0 && change.units == 0 {
            return;
        }
        let aggregate = StockAggregate {
            products: change.products,
            units: change.units.into(),
            cost: Sum::worth(change.cost_price, change.units),
            value: Sum::worth(change.selling_price, change.units),
        };
        for key in [
            (Dimension::Category, change.category),
            (Dimension::Brand, change.brand),
        ] {
            self.stock.entry(key).or_default().add(&aggregate);
        }
    }

    /// Extends the day's range of ids by a booked movement.
    fn widen_id_range(&mut self, moved: &DayDelta, id: i64) {
        let new = IdRange {
            first: id,
            last: id,
        };
        let key = (moved.movement, moved.day);
        let range = self.id_ranges.entry(key).or_insert(new);
        range.first = range.first.min(id);
        range.last = range.last.max(id);
    }

    /// The differences between the stored aggregates and a recount. A missing aggregate counts as
    /// zero. A stored range of ids may be wider, because deletions do not narrow it.
    pub(crate) fn differences(&self, recounted: &Self) -> Vec<AggregateDifference> {
        let days = differing(&self.days, &recounted.days, AggregateSubject::Day);
        let stock = differing(&self.stock, &recounted.stock, AggregateSubject::Stock);
        let mut differences: Vec<_> = days.chain(stock).collect();
        for (key, counted) in &recounted.id_ranges {
            let stored = self.id_ranges.get(key);
            if stored.is_none_or(|stored| !stored.contains(*counted)) {
                differences.push(AggregateDifference {
                    subject: AggregateSubject::IdRange(*key),
                    stored: stored.map_or_else(|| "nothing".to_owned(), IdRange::to_string),
                    counted: counted.to_string(),
                });
            }
        }
        differences.sort_by_key(|difference| difference.subject);
        differences.dedup();
        differences
    }
}

/// The differences between two maps. A missing aggregate counts as zero.
fn differing<'a, K: Copy + Ord, A: Copy + Default + PartialEq + fmt::Display>(
    stored: &'a BTreeMap<K, A>,
    counted: &'a BTreeMap<K, A>,
    subject: fn(K) -> AggregateSubject,
) -> impl Iterator<Item = AggregateDifference> {
    stored.keys().chain(counted.keys()).filter_map(move |key| {
        let value = |all: &BTreeMap<K, A>| all.get(key).copied().unwrap_or_default();
        AggregateDifference::between(subject(*key), value(stored), value(counted))
    })
}

impl DayAggregate {
    /// Adds another aggregate.
    pub fn add(&mut self, other: &Self) {
        self.movements += other.movements;
        self.units += other.units;
        self.cost += other.cost;
        self.value += other.value;
        self.present_cost += other.present_cost;
        self.present_value += other.present_value;
    }
}

impl StockAggregate {
    /// Adds another aggregate.
    pub fn add(&mut self, other: &Self) {
        self.products += other.products;
        self.units += other.units;
        self.cost += other.cost;
        self.value += other.value;
    }
}

impl fmt::Display for DayAggregate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} movements of {} units (cents when booked: cost {}, value {}; now: cost {}, value {})",
            self.movements,
            self.units,
            self.cost,
            self.value,
            self.present_cost,
            self.present_value
        )
    }
}

impl fmt::Display for StockAggregate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} products of {} units (cents: cost {}, value {})",
            self.products, self.units, self.cost, self.value
        )
    }
}

impl fmt::Display for IdRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ids from {} to {}", self.first, self.last)
    }
}

/// An aggregate that does not match its recount. Happens only if another program wrote to the
/// database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AggregateDifference {
    subject: AggregateSubject,
    stored: String,
    counted: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AggregateSubject {
    Day(DayKey),
    Stock(StockKey),
    IdRange(IdRangeKey),
    /// The number of low products under this threshold of the shop.
    Low(i64),
}

impl AggregateDifference {
    /// The difference of two values. `None` if they are equal.
    pub(super) fn between<T: Copy + PartialEq + fmt::Display>(
        subject: AggregateSubject,
        stored: T,
        counted: T,
    ) -> Option<Self> {
        (stored != counted).then(|| Self {
            subject,
            stored: stored.to_string(),
            counted: counted.to_string(),
        })
    }
}

impl fmt::Display for AggregateDifference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.subject {
            AggregateSubject::Day(DayKey {
                movement,
                supplier,
                day,
            }) => {
                let day = day.to_jiff().strftime("%Y-%m-%d").to_string();
                write!(formatter, "{} of {day}", movement.path())?;
                if supplier != ALL_SUPPLIERS {
                    write!(formatter, " from supplier {supplier}")?;
                }
            }
            AggregateSubject::Stock((dimension, record)) => {
                write!(formatter, "stock of {} {record}", dimension.name())?;
            }
            AggregateSubject::IdRange((movement, day)) => {
                let day = day.to_jiff().strftime("%Y-%m-%d").to_string();
                write!(formatter, "ids of {} of {day}", movement.path())?;
            }
            AggregateSubject::Low(threshold) => {
                write!(formatter, "low products under a threshold of {threshold}")?;
            }
        }
        write!(
            formatter,
            ": the aggregate is {}, counted are {}",
            self.stored, self.counted
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn booked(id: Option<i64>, movements: i64) -> Delta {
        let moved = DayDelta {
            movement: Movement::Outflow,
            supplier: None,
            day: Timestamp::from_micros(0),
            movements,
            units: movements,
            cost_price: Money::ZERO,
            selling_price: Money::ZERO,
            present: movements,
            id,
        };
        Delta::of_movement(moved, Money::ZERO, Money::ZERO)
    }

    fn added(changes: &[Delta]) -> Aggregates {
        let mut aggregates = Aggregates::default();
        for change in changes {
            aggregates.add(change);
        }
        aggregates
    }

    #[test]
    fn a_span_holds_what_was_booked_and_is_not_narrowed_by_what_is_deleted() {
        let stored = added(&[booked(Some(7), 1), booked(Some(3), 1), booked(None, -1)]);
        let left = added(&[booked(Some(7), 1)]);
        assert_eq!(
            stored.id_ranges.values().next(),
            Some(&IdRange { first: 3, last: 7 })
        );
        let of_ids = |difference: &AggregateDifference| {
            matches!(difference.subject, AggregateSubject::IdRange(_))
        };
        assert!(!stored.differences(&left).iter().any(of_ids));
        let another = added(&[booked(Some(8), 1)]);
        assert!(stored.differences(&another).iter().any(of_ids));
    }

    #[test]
    fn days_begin_at_midnight_in_utc() {
        let day = |time: &str| day_of(Timestamp::parse(time).unwrap()).to_string();
        assert_eq!(day("2026-11-20T00:00:00Z"), "2026-11-20T00:00:00.000000Z");
        assert_eq!(
            day("2026-11-20T23:59:59.999999Z"),
            "2026-11-20T00:00:00.000000Z"
        );
        assert_eq!(day("1969-12-31T23:59:59Z"), "1969-12-31T00:00:00.000000Z");
    }
}
