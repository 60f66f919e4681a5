//! All random choices of a run, derived from its seed. Nothing else is random, so a seed reproduces
//! its run.

use std::time::Duration;

use web::Random;

/// The source of all choices. Clones share one sequence.
#[derive(Clone, Debug)]
pub(crate) struct Dice(Random);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Random::seeded(seed))
    }

    /// A seed for an independent sequence.
    pub(crate) fn seed(&self) -> u64 {
        self.below(u64::MAX)
    }

    /// A number below `bound`.
    pub(crate) fn below(&self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// Whether an event with a rate of `rate` in a thousand happens.
    pub(crate) fn happens(&self, rate: u64) -> bool {
        rate > 0 && self.below(1000) < rate
    }

    /// One of the choices, or the default if there are none.
    pub(crate) fn one_of<T: Copy + Default>(&self, choices: &[T]) -> T {
        let place = usize::try_from(self.below(choices.len() as u64)).unwrap_or(0);
        choices.get(place).copied().unwrap_or_default()
    }

    /// A random duration between two numbers of milliseconds.
    pub(crate) fn millis(&self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to.saturating_sub(from) + 1))
    }

    /// A random duration between two numbers of seconds.
    pub(crate) fn seconds(&self, from: u64, to: u64) -> Duration {
        self.millis(from * 1000, to * 1000)
    }
}
