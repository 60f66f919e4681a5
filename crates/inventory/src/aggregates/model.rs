//! The contents of the aggregates, and how a delta changes them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    time::Duration,
};

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

/// The fields of a product that aggregates depend on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProductSnapshot {
    pub(crate) category: i64,
    pub(crate) brand: i64,
    pub(crate) cost_price: Money,
    pub(crate) selling_price: Money,
}

impl ProductSnapshot {
    /// Cost price and selling price of a unit.
    pub(crate) const fn prices(&self) -> (Money, Money) {
        (self.cost_price, self.selling_price)
    }
}

/// A change of a product, of its stock, or of a day's movements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Delta {
    /// The kind of the changed movements, and their day.
    pub(crate) moved: Option<(Movement, Timestamp)>,
    /// The supplier of an inflow.
    pub(crate) supplier: Option<i64>,
    /// 1 for a booking, -1 for a deletion, 0 for a revaluation.
    pub(crate) movements: i64,
    /// The units of the movements.
    pub(crate) moved_units: i64,
    /// Cost price and selling price at the time of booking.
    pub(crate) booked_prices: (Money, Money),
    /// Units to value at the current prices, or (negative) to remove from that value.
    pub(crate) present: i64,
    pub(crate) movement_id: Option<i64>,
    /// The product's current values, for `products`, `units` and the present value of movements.
    pub(crate) product: ProductSnapshot,
    /// Products added, or removed if negative.
    pub(crate) products: i64,
    /// Units added to stock, or removed if negative.
    pub(crate) units: i64,
    /// Products that became low, minus those that are no longer low.
    pub(crate) low: i64,
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
    /// What the delta adds to the day of these movements. Inflows have no value: the cost of a
    /// delivery is unknown.
    fn day_aggregate(&self, movement: Movement) -> DayAggregate {
        let units = Sum::from(self.moved_units);
        let counted = DayAggregate {
            movements: self.movements,
            units,
            ..DayAggregate::default()
        };
        let (cost_price, selling_price) = self.booked_prices;
        match movement {
            Movement::Inflow => counted,
            Movement::Outflow => DayAggregate {
                cost: Sum::worth(cost_price, self.moved_units),
                value: Sum::worth(selling_price, self.moved_units),
                present_cost: Sum::worth(self.product.cost_price, self.present),
                present_value: Sum::worth(self.product.selling_price, self.present),
                ..counted
            },
        }
    }
}

impl Aggregates {
    pub(crate) fn add(&mut self, change: &Delta) {
        if let Some((movement, day)) = change.moved {
            let aggregate = change.day_aggregate(movement);
            for supplier in [Some(ALL_SUPPLIERS), change.supplier].into_iter().flatten() {
                let key = DayKey {
                    movement,
                    supplier,
                    day,
                };
                self.days.entry(key).or_default().add(&aggregate);
            }
            if let Some(id) = change.movement_id {
                self.widen_id_range((movement, day), id);
            }
        }
        self.low += change.low;
        if change.products == 0 && change.units == 0 {
            return;
        }
        let aggregate = StockAggregate {
            products: change.products,
            units: change.units.into(),
            cost: Sum::worth(change.product.cost_price, change.units),
            value: Sum::worth(change.product.selling_price, change.units),
        };
        for key in [
            (Dimension::Category, change.product.category),
            (Dimension::Brand, change.product.brand),
        ] {
            self.stock.entry(key).or_default().add(&aggregate);
        }
    }

    /// Extends the day's range of ids by a booked movement.
    fn widen_id_range(&mut self, key: IdRangeKey, id: i64) {
        let new = IdRange {
            first: id,
            last: id,
        };
        let range = self.id_ranges.entry(key).or_insert(new);
        range.first = range.first.min(id);
        range.last = range.last.max(id);
    }

    /// The differences between the stored aggregates and a recount. A missing aggregate counts as
    /// zero. A stored range of ids may be wider, because deletions do not narrow it.
    pub(crate) fn differences(&self, recounted: &Self) -> Vec<Difference> {
        let days = differing(&self.days, &recounted.days, |key| {
            let name = name_of_day(key.movement.path(), key.day);
            match key.supplier {
                ALL_SUPPLIERS => name,
                supplier => format!("{name} from supplier {supplier}"),
            }
        });
        let stock = differing(&self.stock, &recounted.stock, |(dimension, record)| {
            format!("stock of {} {record}", dimension.name())
        });
        let mut differences: Vec<_> = days.chain(stock).collect();
        for (key, counted) in &recounted.id_ranges {
            let stored = self.id_ranges.get(key);
            if stored.is_none_or(|stored| !stored.contains(*counted)) {
                let name = format!("ids of {}", name_of_day(key.0.path(), key.1));
                let stored = stored.map_or_else(|| "nothing".to_owned(), IdRange::to_string);
                differences.push(Difference::of_aggregate(name, stored, counted));
            }
        }
        differences
    }
}

/// The differences between two maps. A missing aggregate counts as zero.
fn differing<'a, K: Copy + Ord, A: Copy + Default + PartialEq + fmt::Display>(
    stored: &'a BTreeMap<K, A>,
    counted: &'a BTreeMap<K, A>,
    name: impl Fn(K) -> String + 'a,
) -> impl Iterator<Item = Difference> {
    let keys: BTreeSet<K> = stored.keys().chain(counted.keys()).copied().collect();
    keys.into_iter().filter_map(move |key| {
        let value = |all: &BTreeMap<K, A>| all.get(&key).copied().unwrap_or_default();
        let (stored, counted) = (value(stored), value(counted));
        (stored != counted).then(|| Difference::of_aggregate(name(key), stored, counted))
    })
}

fn name_of_day(movements: &str, day: Timestamp) -> String {
    format!("{movements} of {}", day.to_jiff().strftime("%Y-%m-%d"))
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

/// An inconsistency in the database, as text. Happens only if another program wrote to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference(pub(crate) String);

impl Difference {
    /// An aggregate that does not match its recount.
    pub(super) fn of_aggregate(
        name: impl fmt::Display,
        stored: impl fmt::Display,
        counted: impl fmt::Display,
    ) -> Self {
        Self(format!(
            "{name}: the aggregate is {stored}, counted are {counted}"
        ))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn booked(id: Option<i64>, movements: i64) -> Delta {
        Delta {
            moved: Some((Movement::Outflow, Timestamp::from_micros(0))),
            movements,
            moved_units: movements,
            present: movements,
            movement_id: id,
            ..Delta::default()
        }
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
        let of_ids = |difference: &Difference| difference.0.starts_with("ids of outflows");
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
