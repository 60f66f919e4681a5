//! Which way leads to a page of a list: along the index that has its order, or by sorting all that match. The numbers say what the engines
//! do at a million products and ten million movements; `balcao bench inventory --only lists` measures what comes of them.

/// So many entries of an index are read in the time in which one record is looked up and sorted.
pub(crate) const SORTED: u64 = 8;
/// So many entries of a word are read in the time of one product that is looked up.
pub(crate) const LOOKED_UP: u64 = 15;
/// So many times longer than chance has it the way along an index may be, where what is asked for stands together in it: all rice has
/// one category, titles that begin alike and prices that are near each other.
const CLUSTERED: u64 = 256;
/// A word with more entries leads nowhere: looking at every title is as fast.
pub(crate) const COMMON: u64 = 100_000;
/// From so many records on, the first of each group are too many.
pub(crate) const MOST_OF_A_GROUP: u64 = 1000;
/// So few movements are sorted sooner than any other way is gone.
pub(crate) const FEW: u64 = 3000;

/// How far a page reaches into a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Records up to the end of the page.
    pub(crate) wanted: u64,
    /// Records that match.
    pub(crate) matches: u64,
    /// Records that the index has.
    pub(crate) all: u64,
}

impl Reach {
    /// Entries of an index that are read before the page is full, as chance has it.
    pub(crate) const fn along(self) -> u64 {
        let others = match self.all.checked_div(self.matches) {
            Some(others) => others,
            None => self.all,
        };
        self.wanted.saturating_mul(others)
    }

    /// The same, where what matches may stand together, behind much that does not.
    pub(crate) const fn along_clusters(self) -> u64 {
        self.along().saturating_mul(CLUSTERED)
    }

    /// Whether sorting all that match is quicker than reading so many entries; no index has more than all.
    pub(crate) const fn is_sorted_within(self, entries: u64) -> bool {
        let entries = if entries < self.all {
            entries
        } else {
            self.all
        };
        self.matches.saturating_mul(SORTED) <= entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn reach(matches: u64) -> Reach {
        Reach {
            wanted: 20,
            matches,
            all: 1_000_000,
        }
    }

    #[test]
    fn few_are_sorted_and_many_are_met_along_the_way() {
        let is_sorted = |matches| {
            let reach = reach(matches);
            reach.is_sorted_within(reach.along())
        };
        assert!(is_sorted(0) && is_sorted(1) && is_sorted(1000));
        assert!(!is_sorted(10_000) && !is_sorted(1_000_000));
    }

    #[test]
    fn more_are_sorted_where_they_may_stand_together_but_never_all() {
        let is_sorted = |matches| {
            let reach = reach(matches);
            reach.is_sorted_within(reach.along_clusters())
        };
        assert!(is_sorted(20_000));
        assert!(!is_sorted(200_000) && !is_sorted(1_000_000));
    }
}
