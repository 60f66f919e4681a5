//! Pseudo-random numbers for example data. They use integers only, so a seed gives the same numbers
//! on every machine. Not for secrets.

/// A stream of pseudo-random numbers (`SplitMix64`, Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which must be at least 1. The bias is less than one part in 2³².
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next()) * u128::from(bound);
        u64::try_from(product >> 64).unwrap_or(0)
    }

    /// True in `percent` of a hundred cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A Zipf distribution of ranks, in which few ranks are drawn often. The weight of rank `k` is
/// `1 / (k + 20)`.
#[derive(Debug)]
pub(crate) struct Popularity {
    /// The cumulative weights.
    sums: Vec<u64>,
}

/// Flattens the distribution. Without it the first rank would have a seventh of all draws.
const BLUNT: u64 = 20;

impl Popularity {
    pub(crate) fn new(ranks: u64) -> Self {
        let mut sum = 0;
        let sums = (0..ranks).map(|rank| {
            sum += weight(rank);
            sum
        });
        Self {
            sums: sums.collect(),
        }
    }

    pub(crate) fn draw(&self, chance: &mut Chance) -> usize {
        let at = chance.below(self.total().max(1));
        self.sums.partition_point(|sum| *sum <= at)
    }

    /// The expected number of draws of a rank, in hundredths.
    pub(crate) fn expected_hundredths(&self, rank: u64, draws: u64) -> u64 {
        let share = u128::from(weight(rank)) * u128::from(draws) * 100;
        u64::try_from(share / u128::from(self.total().max(1))).unwrap_or(u64::MAX)
    }

    fn total(&self) -> u64 {
        self.sums.last().copied().unwrap_or(0)
    }
}

const fn weight(rank: u64) -> u64 {
    (1 << 40) / (rank + BLUNT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |seed| {
            let mut chance = Chance::new(seed);
            [chance.below(1000), chance.below(1000), chance.below(1000)]
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn few_are_drawn_often() {
        let (popularity, mut chance) = (Popularity::new(1000), Chance::new(7));
        let mut drawn = vec![0; 1000];
        for _ in 0..100_000 {
            drawn[popularity.draw(&mut chance)] += 1;
        }
        let first: i32 = drawn.iter().take(100).sum();
        assert!((40_000..50_000).contains(&first), "{first}");
        assert!(drawn.iter().all(|times| *times > 0));
    }
}
