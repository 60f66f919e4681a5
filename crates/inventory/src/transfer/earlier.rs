//! The effects that the rows examined so far would have on later rows of the same file.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Mutex,
};

use db::lock_mutex;

use super::missing::{NewNames, RowNames};

/// The effects of the rows examined so far.
#[derive(Debug, Default)]
pub(super) struct EarlierRows {
    pub(super) serie_numbers: HashSet<String>,
    /// Ids in the file, as ranges from first to last. Exported files have few ranges.
    pub(super) ids: BTreeMap<i64, i64>,
    /// Quantities of products after the movements so far.
    pub(super) quantities: HashMap<i64, i64>,
    /// Names of records that the import creates.
    pub(super) names: NewNames,
}

impl EarlierRows {
    pub(super) fn has_id(&self, id: i64) -> bool {
        let before = self.ids.range(..=id).next_back();
        before.is_some_and(|(_, last)| id <= *last)
    }

    pub(super) fn add_id(&mut self, id: i64) {
        self.add_ids(id, id);
    }

    /// Adds a range that overlaps no other. Adjacent ranges are merged.
    fn add_ids(&mut self, mut first: i64, mut last: i64) {
        if let Some((before, end)) = self.ids.range(..first).next_back()
            && end + 1 == first
        {
            first = *before;
        }
        if let Some(end) = self.ids.remove(&(last + 1)) {
            last = end;
        }
        self.ids.insert(first, last);
    }

    pub(super) fn absorb(&mut self, fresh: Self) {
        self.serie_numbers.extend(fresh.serie_numbers);
        self.quantities.extend(fresh.quantities);
        self.names.absorb(fresh.names);
        for (first, last) in fresh.ids {
            self.add_ids(first, last);
        }
    }
}

/// The effect of one row on later rows.
#[derive(Debug, Default)]
pub(super) struct Effect {
    pub(super) serie_number: Option<String>,
    /// A product and its quantity afterwards.
    pub(super) quantity: Option<(i64, i64)>,
}

/// The effects of the rows before the one that is examined.
pub(super) struct RowsBefore<'a> {
    pub(super) seen: &'a Mutex<EarlierRows>,
    /// The effects of the current batch, kept apart because its transaction may be retried.
    pub(super) fresh: &'a EarlierRows,
}

impl RowsBefore<'_> {
    pub(super) fn has_serie_number(&self, number: &str) -> bool {
        self.fresh.serie_numbers.contains(number)
            || lock_mutex(self.seen).serie_numbers.contains(number)
    }

    pub(super) fn quantity(&self, product: i64) -> Option<i64> {
        let fresh = self.fresh.quantities.get(&product).copied();
        fresh.or_else(|| lock_mutex(self.seen).quantities.get(&product).copied())
    }

    pub(super) fn has_id(&self, id: i64) -> bool {
        self.fresh.has_id(id) || lock_mutex(self.seen).has_id(id)
    }

    /// The fields of a row whose new names exceed the limit per file.
    pub(super) fn beyond_the_most_names(&self, names: &RowNames) -> Vec<&'static str> {
        let seen = lock_mutex(self.seen);
        seen.names.beyond_the_most(&self.fresh.names, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_remembered_as_ranges_in_whatever_order_they_come() {
        let mut seen = EarlierRows::default();
        for id in [5, 7, 6, 1, 9] {
            assert!(!seen.has_id(id));
            seen.add_id(id);
        }
        assert_eq!(
            seen.ids.iter().collect::<Vec<_>>(),
            [(&1, &1), (&5, &7), (&9, &9)]
        );
        assert!(seen.has_id(6) && !seen.has_id(8) && !seen.has_id(0));
        let mut fresh = EarlierRows::default();
        fresh.add_id(8);
        seen.absorb(fresh);
        assert_eq!(seen.ids.get(&5), Some(&9));
    }
}
