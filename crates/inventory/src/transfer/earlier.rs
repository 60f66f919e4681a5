//! The effects that the rows examined so far would have on later rows of the same file.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex},
};

use db::lock_mutex;

use super::missing::{self, NewName, RowNames};

/// The effects of the rows examined so far.
#[derive(Debug, Default)]
pub(super) struct EarlierRows {
    /// Those of earlier batches. The effects of the current batch are kept apart, because its
    /// transaction may be retried.
    batches: Option<Arc<Mutex<Self>>>,
    serie_numbers: HashSet<String>,
    /// Ids in the file, as ranges from first to last. Exported files have few ranges.
    ids: BTreeMap<i64, i64>,
    /// Quantities of products after the movements so far.
    quantities: HashMap<i64, i64>,
    /// Names of records that the import creates. Case and accents do not matter, as in a search.
    names: BTreeMap<(&'static str, String), NewName>,
}

/// The effect of one row on later rows.
#[derive(Debug, Default)]
pub(super) struct Effect {
    pub(super) serie_number: Option<String>,
    /// A product and its quantity afterwards.
    pub(super) quantity: Option<(i64, i64)>,
}

impl EarlierRows {
    /// The beginning of a batch.
    pub(super) fn after(batches: &Arc<Mutex<Self>>) -> Self {
        Self {
            batches: Some(Arc::clone(batches)),
            ..Self::default()
        }
    }

    /// What is found among the rows of the current batch, or else of the earlier ones.
    fn find<T>(&self, find: impl Fn(&Self) -> Option<T>) -> Option<T> {
        find(self).or_else(|| find(&lock_mutex(self.batches.as_ref()?)))
    }

    pub(super) fn has_serie_number(&self, number: &str) -> bool {
        self.find(|rows| rows.serie_numbers.get(number).map(drop))
            .is_some()
    }

    pub(super) fn quantity(&self, product: i64) -> Option<i64> {
        self.find(|rows| rows.quantities.get(&product).copied())
    }

    pub(super) fn has_id(&self, id: i64) -> bool {
        let last = self.find(|rows| {
            let (_, last) = rows.ids.range(..=id).next_back()?;
            Some(*last).filter(|last| id <= *last)
        });
        last.is_some()
    }

    /// The fields of a row whose new names exceed the limit per file.
    pub(super) fn beyond_the_most_names(&self, names: &RowNames) -> Vec<&'static str> {
        let of_batches = self.batches.as_ref();
        let known = of_batches.map_or(0, |rows| lock_mutex(rows).names.len());
        if known + self.names.len() < missing::MAX {
            return Vec::new();
        }
        let new = self.new_names(names, 0);
        new.into_iter().map(|((kind, _), _)| kind).collect()
    }

    /// The names of a row that no earlier row has.
    fn new_names(&self, names: &RowNames, line: u64) -> BTreeMap<(&'static str, String), NewName> {
        let names = names.iter().filter_map(|(field, name)| {
            let kind = missing::kind_of(field)?;
            let (key, name) = ((kind.name(), db::fold(name)), name.clone());
            let is_known = self.find(|rows| rows.names.get(&key).map(drop)).is_some();
            (!is_known).then_some((key, NewName { kind, name, line }))
        });
        names.collect()
    }

    pub(super) fn add(&mut self, line: u64, id: Option<i64>, names: &RowNames, effect: Effect) {
        let new = self.new_names(names, line);
        self.names.extend(new);
        self.serie_numbers.extend(effect.serie_number);
        self.quantities.extend(effect.quantity);
        if let Some(id) = id {
            self.add_ids(id, id);
        }
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

    /// Adds a batch, whose transaction is over. Returns its new names in the order of the file.
    pub(super) fn absorb(&mut self, batch: Self) -> Vec<NewName> {
        let mut names: Vec<_> = batch.names.values().cloned().collect();
        names.sort_by_key(|new| (new.line, new.kind.name()));
        self.serie_numbers.extend(batch.serie_numbers);
        self.quantities.extend(batch.quantities);
        self.names.extend(batch.names);
        for (first, last) in batch.ids {
            self.add_ids(first, last);
        }
        names
    }

    /// The highest id in the file so far.
    pub(super) fn highest_id(&self) -> Option<i64> {
        self.ids.last_key_value().map(|(_, last)| *last)
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
            seen.add_ids(id, id);
        }
        assert_eq!(
            seen.ids.iter().collect::<Vec<_>>(),
            [(&1, &1), (&5, &7), (&9, &9)]
        );
        assert!(seen.has_id(6) && !seen.has_id(8) && !seen.has_id(0));
        let mut fresh = EarlierRows::default();
        fresh.add_ids(8, 8);
        seen.absorb(fresh);
        assert_eq!(seen.ids.get(&5), Some(&9));
    }
}
