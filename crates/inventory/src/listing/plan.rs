//! The planner, which chooses how to read the ids of a page. The cost constants fit a million
//! products and ten million movements; `balcao bench inventory --only lists` measures the result.

use super::{Condition, Index, PageRange, Selection, Table, Test};

/// The cost of sorting one match, in index entries. It includes reading the row.
const SORTED: u64 = 8;
/// The cost of reading one row by its id, in entries of the search index.
const LOOKED_UP: u64 = 15;
/// The factor by which a walk may take longer where matches are adjacent in the order.
const CLUSTERED: u64 = 256;
/// The most entries of a driving term. A walk finds matches of a more frequent word soon enough.
pub(crate) const COMMON: u64 = 100_000;
/// The highest end of a page for a skip scan, which reads up to that many entries per value.
const MOST_SKIPPED: u64 = 20_000;

/// The way to read the ids of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessPath {
    /// Scans an index in the requested order, and checks the other conditions on each row.
    Walk(Walk),
    /// Seeks each distinct value of the sort field, and reads its first ids.
    SkipScan,
    /// Scans an index for each value of a condition, and merges the first ids.
    Merge,
    /// Sorts all matches.
    Sort,
}

/// An index scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Walk {
    pub(super) table: &'static Table,
    pub(super) index: Index,
    /// Whether to scan once per referenced record, in the order of the names.
    pub(super) is_by_name: bool,
}

impl Walk {
    /// The driving term, if the index has its entries.
    fn driving(self, stats: &QueryStats) -> Option<&DrivingTerm> {
        let driving = stats.driving.as_ref();
        driving.filter(|driving| driving.condition.is_bound_by(&self.index))
    }
}

/// Statistics of a selection.
#[derive(Debug, Clone, Default)]
pub(crate) struct QueryStats {
    /// The number of matches.
    pub(crate) count: u64,
    /// The approximate number of all records.
    pub(crate) all: u64,
    /// Bounds of the ids of matches, if known.
    pub(crate) ids: Option<(i64, i64)>,
    /// The indexed condition with the fewest entries.
    pub(crate) driving: Option<DrivingTerm>,
    /// A condition that all records satisfy at present, so that it is not evaluated.
    pub(crate) idle: Option<Condition>,
}

/// A condition with an index in another table.
#[derive(Debug, Clone)]
pub(crate) struct DrivingTerm {
    pub(crate) table: &'static Table,
    pub(crate) condition: Condition,
    /// The condition of the selection that all entries satisfy.
    pub(crate) answers: Option<Condition>,
    /// The number of entries, counted up to [`COMMON`].
    pub(crate) entries: u64,
    /// The most entries per record.
    pub(crate) entries_of_one: i64,
}

impl QueryStats {
    /// Statistics of a list that was not counted.
    pub(crate) const UNKNOWN: Self = Self {
        count: u64::MAX,
        all: u64::MAX,
        ids: None,
        driving: None,
        idle: None,
    };

    /// Statistics with the number of matches and of all records.
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

    /// The same range from the end of the list, if that is nearer.
    pub(super) fn range_from_end(&self, (limit, offset): PageRange) -> Option<PageRange> {
        let count = i64::try_from(self.count).ok()?;
        let end = offset.saturating_add(limit).min(count);
        (offset > count / 2 && offset < end).then(|| (end - offset, count - end))
    }

    pub(super) fn id_range(&self) -> Vec<Condition> {
        let Some((first, last)) = self.ids else {
            return Vec::new();
        };
        let bounds = [Test::AtLeast(first.into()), Test::AtMost(last.into())];
        bounds.map(|test| Condition::new("id", "id", test)).to_vec()
    }
}

impl<T: 'static> Selection<T> {
    /// Chooses the cheapest path to the first `rows_needed` records of the list.
    pub(crate) fn access_path(&self, stats: &QueryStats, rows_needed: u64) -> AccessPath {
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
        // Such a walk reads at most the entries of the driving term.
        let is_driven = walk.driving(stats).is_some();
        if !is_exact && !is_driven && self.sort_cost(stats) <= self.walk_cost(stats, rows_needed) {
            return AccessPath::Sort;
        }
        if rows_needed <= MOST_SKIPPED && self.is_skipped_along(walk, is_exact) {
            return AccessPath::SkipScan;
        }
        AccessPath::Walk(walk)
    }

    /// The index with the requested order. Prefers one that begins with a column that a condition
    /// fixes.
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

    /// Whether a skip scan reads less than a walk. That is so for names in another table, and for
    /// values that many records share, because a walk reads all of them before it knows the order.
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

    /// The cost of reading and sorting all matches, in index entries.
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

    /// The cost of a walk until the page is full, in index entries, if matches are distributed
    /// evenly. At most the size of the index.
    fn walk_cost(&self, stats: &QueryStats, rows_needed: u64) -> u64 {
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
        let entries = rows_needed
            .saturating_mul(passed)
            .saturating_mul(if is_clustered { CLUSTERED } else { 1 })
            .min(all);
        // Comparing words reads the title of the record.
        entries.saturating_mul(if self.has_words() { LOOKED_UP } else { 1 })
    }
}
