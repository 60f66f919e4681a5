//! Whether it is worth the while to look for something in memory: where hardly anything is found there, looking for it is work for nothing.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// What a find earns, in points; what is looked for in vain costs one. So a fifth of all must be found for it to go on.
const EARNED: u32 = 4;
/// The most points, and those at the beginning, when nothing can have been found yet.
const MOST: u32 = 4096;
/// Without points, one of so many looks is taken all the same: times change.
const SAMPLE: u32 = 16;

/// A measure of how often looking has been worth it of late.
pub(super) struct Worth {
    points: AtomicU32,
    /// The looks that were thought of without points.
    thought_of: AtomicU32,
}

impl Default for Worth {
    fn default() -> Self {
        Self {
            points: AtomicU32::new(MOST),
            thought_of: AtomicU32::new(0),
        }
    }
}

impl Worth {
    /// Whether to look.
    pub(super) fn is_given(&self) -> bool {
        self.points.load(Relaxed) > 0
            || self.thought_of.fetch_add(1, Relaxed).is_multiple_of(SAMPLE)
    }

    /// Takes note of what came of a look.
    pub(super) fn note(&self, is_found: bool) {
        let next = |points: u32| {
            let points = if is_found {
                points.saturating_add(EARNED).min(MOST)
            } else {
                points.saturating_sub(1)
            };
            Some(points)
        };
        // It never refuses.
        let _before = self.points.fetch_update(Relaxed, Relaxed, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of a thousand looks are taken, each with this outcome.
    fn taken(worth: &Worth, is_found: bool) -> u32 {
        let mut taken = 0;
        for _ in 0..1000 {
            if worth.is_given() {
                worth.note(is_found);
                taken += 1;
            }
        }
        taken
    }

    #[test]
    fn where_nothing_is_found_one_look_in_sixteen_is_taken_until_something_is() {
        let worth = Worth::default();
        for _ in 0..4 {
            assert_eq!(taken(&worth, false), 1000);
        }
        let left = MOST - 4000;
        assert_eq!(taken(&worth, false), left + (1000 - left).div_ceil(SAMPLE));
        assert!(taken(&worth, false) <= 1000_u32.div_ceil(SAMPLE));
        assert!(taken(&worth, true) > 1000 - SAMPLE);
    }

    #[test]
    fn it_goes_on_where_a_fifth_is_found_and_ends_where_a_tenth_is() {
        for (every, goes_on) in [(5, true), (10, false)] {
            let worth = Worth::default();
            for number in 0..50_000 {
                worth.note(number % every == 0);
            }
            assert_eq!(worth.is_given() && worth.is_given(), goes_on, "{every}");
        }
    }
}
