//! The planner: how the ids of a page are read. The constants say what the engines do at a million
//! products and ten million movements; `balcao bench inventory --only lists` measures the result.

use super::{Bound, Condition, Index, PageRange, Selection, Table, Test};

/// A match that is sorted costs as much as so many index entries that are read: its row is looked
/// up first.
const SORTED: u64 = 8;
/// A row that is looked up costs as much as so many entries of the search index.
const LOOKED_UP: u64 = 15;
/// A walk along an order may take so many times longer where matches stand together in it.
const CLUSTERED: u64 = 256;
/// A word with more entries drives no statement: a walk along the order meets it soon enough.
pub(crate) const COMMON: u64 = 100_000;
/// A skip scan reads up to so many entries of each value, so it is for pages near the first.
const MOST_SKIPPED: u64 = 20_000;

/// How the ids of a page are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessPath {
    /// Along an index that has the order, checking every other condition on the way.
    Walk(Walk),
    /// From value to value of what orders, and of each the first ids.
    SkipScan,
    /// Along an index for each value that a condition has, and of each the first ids.
    Merge,
    /// All matches, sorted.
    Sort,
}

/// An index, and its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Walk {
    pub(super) table: &'static Table,
    pub(super) index: Index,
    /// Whether it is walked once for each record that the order's field refers to, in the order of
    /// their names.
    pub(super) is_by_name: bool,
}

impl Walk {
    /// The term whose entries it walks along.
    fn driving(self, stats: &QueryStats) -> Option<&DrivingTerm> {
        let driving = stats.driving.as_ref();
        driving.filter(|driving| driving.condition.is_bound_by(&self.index))
    }
}

/// What a selection amounts to.
#[derive(Debug, Clone, Default)]
pub(crate) struct QueryStats {
    /// How many records match.
    pub(crate) count: u64,
    /// About how many there are in all.
    pub(crate) all: u64,
    /// The first and the last id that any match may have, where that is known.
    pub(crate) ids: Option<(i64, i64)>,
    /// The condition whose index finds the fewest records.
    pub(crate) driving: Option<DrivingTerm>,
    /// A condition that all records fulfil at present, so that it need not be asked.
    pub(crate) idle: Option<Condition>,
}

/// A condition that another table has an index for.
#[derive(Debug, Clone)]
pub(crate) struct DrivingTerm {
    pub(crate) table: &'static Table,
    pub(crate) condition: Condition,
    /// The condition that each of its entries fulfils.
    pub(crate) answers: Option<Condition>,
    /// How many entries it has, counted up to [`COMMON`].
    pub(crate) entries: u64,
    /// How many entries one record may have under it.
    pub(crate) entries_of_one: i64,
}

impl QueryStats {
    /// Of a list that is longer than anybody counts.
    pub(crate) const UNKNOWN: Self = Self {
        count: u64::MAX,
        all: u64::MAX,
        ids: None,
        driving: None,
        idle: None,
    };

    /// So many of so many, wherever they are.
    pub(crate) fn of(count: u64, all: u64) -> Self {
        Self {
            count,
            all,
            ..Self::default()
        }
    }

    pub(super) fn is_idle(&self, condition: &Condition) -> bool {
        self.idle.as_ref() == Some(condition)
    }

    /// The same part, from the end of the list, where that is nearer than its beginning.
    pub(super) fn part_from_end(&self, (limit, offset): PageRange) -> Option<PageRange> {
        let count = i64::try_from(self.count).ok()?;
        let end = offset.saturating_add(limit).min(count);
        (offset > count / 2 && offset < end).then(|| (end - offset, count - end))
    }

    /// The bounds of the ids, as conditions.
    pub(super) fn id_range(&self) -> Vec<Condition> {
        let Some((first, last)) = self.ids else {
            return Vec::new();
        };
        let bounds = [
            Test::AtLeast(Bound::Id(first)),
            Test::AtMost(Bound::Id(last)),
        ];
        bounds.map(|test| Condition::new("id", "id", test)).to_vec()
    }
}

impl<T: 'static> Selection<T> {
    /// Chooses the path that reads the least, for `wanted` records from the beginning of the list.
    pub(crate) fn access_path(&self, stats: &QueryStats, wanted: u64) -> AccessPath {
        let Some(walk) = self.walk(stats) else {
            return AccessPath::Sort;
        };
        match self.several() {
            Some((_, "id", _)) => return AccessPath::Sort,
            Some(_) => return AccessPath::Merge,
            None => {}
        }
        let conditions = self.conditions_of(walk, stats);
        let is_exact = conditions
            .iter()
            .all(|condition| condition.is_bound_by(&walk.index) || !condition.is_selective());
        // It reads no more entries than the driving term has.
        let is_driven = walk.driving(stats).is_some();
        if !is_exact && !is_driven && self.sort_cost(stats) <= self.walk_cost(stats, wanted) {
            return AccessPath::Sort;
        }
        if wanted <= MOST_SKIPPED && self.is_skipped_along(walk, is_exact) {
            return AccessPath::SkipScan;
        }
        AccessPath::Walk(walk)
    }

    /// The index that has the order: one within a value that a condition asks for, if there is one.
    pub(super) fn walk(&self, stats: &QueryStats) -> Option<Walk> {
        let (list, first) = (self.list, self.first_field());
        let driving = stats.driving.as_ref();
        let indexes = list
            .tables()
            .flat_map(|table| table.indexes.iter().map(move |index| (table, *index)));
        let is_within = |table: &Table, field: &str| {
            let fulfilled = driving.filter(|driving| driving.table == table);
            let fulfilled = fulfilled.map(|driving| &driving.condition);
            self.conditions
                .iter()
                .chain(fulfilled)
                .any(|condition| condition.field == field && condition.is_of_one_value())
        };
        let in_order = indexes
            .clone()
            .filter(|(table, index)| {
                index.order == first && index.within.is_none_or(|field| is_within(table, field))
            })
            .max_by_key(|(_, index)| index.within.is_some());
        if let Some((table, index)) = in_order {
            return Some(Walk {
                table,
                index,
                is_by_name: false,
            });
        }
        if list.own.is_indexed_by_field && !list.is_by_name(first) {
            return Some(Walk {
                table: list.own,
                index: Index::of(first),
                is_by_name: false,
            });
        }
        let mut by_name = indexes.filter(|(_, index)| index.within == Some(first));
        let (table, index) = by_name.next().filter(|_| list.is_by_name(first))?;
        Some(Walk {
            table,
            index,
            is_by_name: true,
        })
    }

    /// The conditions that remain for a walk.
    pub(super) fn conditions_of(&self, walk: Walk, stats: &QueryStats) -> Vec<Condition> {
        let mut conditions = match walk.driving(stats) {
            Some(driving) => self.conditions_beside(driving),
            None => self.conditions.clone(),
        };
        conditions.retain(|condition| !stats.is_idle(condition));
        conditions
    }

    /// The driving condition, and the others.
    pub(super) fn conditions_beside(&self, driving: &DrivingTerm) -> Vec<Condition> {
        let others = self.conditions.iter();
        let others = others.filter(|condition| Some(*condition) != driving.answers.as_ref());
        [&driving.condition]
            .into_iter()
            .chain(others)
            .cloned()
            .collect()
    }

    /// Whether a skip scan reads less than a walk: names stand in another table; and of values that
    /// many records share, a walk reads all before it knows which come first.
    fn is_skipped_along(&self, walk: Walk, is_exact: bool) -> bool {
        let ([by], false) = (self.order.as_slice(), self.has_words()) else {
            return false;
        };
        if walk.is_by_name {
            return walk.index.order == "id";
        }
        self.list.shared_values.contains(&by.field)
            && walk.index.within.is_none()
            && (by.descending || !is_exact)
    }

    fn has_words(&self) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|condition| matches!(condition.test, Test::Contains(_)))
    }

    /// What reading and sorting all matches costs, in index entries.
    fn sort_cost(&self, stats: &QueryStats) -> u64 {
        let Some(driving) = &stats.driving else {
            return stats.count.saturating_mul(SORTED);
        };
        let has = |field: &str| self.list.has(driving.table, field);
        let has_filters = self.conditions.iter().all(|condition| has(condition.field));
        let has_order = self.order.iter().all(|by| has(by.field));
        let looked_up = match (has_filters, has_order) {
            (true, true) => 0,
            (true, false) => stats.count,
            (false, _) => driving.entries,
        };
        looked_up
            .saturating_mul(LOOKED_UP)
            .saturating_add(driving.entries)
    }

    /// What a walk reads until the page is full, as chance has it; no index has more than all.
    fn walk_cost(&self, stats: &QueryStats, wanted: u64) -> u64 {
        let all = match stats.ids {
            Some((first, last)) if self.first_field() == "id" => {
                stats.all.min(last.saturating_sub(first).unsigned_abs())
            }
            _ => stats.all,
        };
        let passed = all.checked_div(stats.count).unwrap_or(all);
        let mut conditions = self.conditions.iter();
        let is_clustered =
            conditions.any(|condition| self.list.is_clustered(self.first_field(), condition));
        let entries = wanted
            .saturating_mul(passed)
            .saturating_mul(if is_clustered { CLUSTERED } else { 1 })
            .min(all);
        // Words are compared with the record's title.
        entries.saturating_mul(if self.has_words() { LOOKED_UP } else { 1 })
    }
}
