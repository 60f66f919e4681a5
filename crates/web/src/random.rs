//! Randomness, passed in: the operating system's in production, a reproducible sequence in tests.

use std::fmt;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use db::{Timestamp, lock_mutex};
use uuid::Uuid;

/// A source of random bytes. Clones of a seeded source share one sequence.
#[derive(Clone)]
pub struct Random(RandomSource);

#[derive(Clone)]
enum RandomSource {
    System,
    Seeded(Arc<Mutex<u64>>),
}

impl Random {
    /// The operating system's generator, fit for keys and tokens.
    pub const fn system() -> Self {
        Self(RandomSource::System)
    }

    /// The same bytes for the same seed. For tests and example data only: the seed reveals every
    /// token.
    pub fn seeded(seed: u64) -> Self {
        Self(RandomSource::Seeded(Arc::new(Mutex::new(seed))))
    }

    /// Fills the buffer with random bytes.
    ///
    /// # Panics
    /// When the operating system has none to give.
    #[expect(
        clippy::expect_used,
        reason = "without randomness no key, token or id may be made: stopping is the only safe answer"
    )]
    pub fn fill(&self, buffer: &mut [u8]) {
        match &self.0 {
            RandomSource::System => {
                getrandom::fill(buffer).expect("the operating system gives random bytes");
            }
            RandomSource::Seeded(state) => {
                let mut state = lock_mutex(state);
                for chunk in buffer.chunks_mut(8) {
                    let bytes = split_mix(&mut state).to_le_bytes();
                    for (to, from) in chunk.iter_mut().zip(bytes) {
                        *to = from;
                    }
                }
            }
        }
    }

    /// A random number below `bound`; 0 when `bound` is 0. The bias is below 2⁻³² for bounds below
    /// 2³².
    pub fn below(&self, bound: u64) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes).checked_rem(bound).unwrap_or(0)
    }

    /// A random UUID (version 4).
    pub fn uuid(&self) -> Uuid {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// A UUID that sorts by time (version 7: 48 bits of milliseconds, 74 random ones), for keys of
    /// large indexes: new keys are adjacent, so that many share a page. It reveals when it was
    /// made.
    pub fn uuid_at(&self, now: Timestamp) -> Uuid {
        let mut bytes = [0; 10];
        self.fill(&mut bytes);
        let millis = u64::try_from(now.micros() / 1000).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
    }

    /// An unguessable token: 256 bits in base64url without padding, 43 characters.
    pub fn token(&self) -> String {
        let mut bytes = [0; 32];
        self.fill(&mut bytes);
        URL_SAFE_NO_PAD.encode(bytes)
    }
}

impl fmt::Debug for Random {
    /// Never shows the state, which determines every later token.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.0 {
            RandomSource::System => "Random(system)",
            RandomSource::Seeded(_) => "Random(seeded)",
        })
    }
}

/// `SplitMix64` (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_sequence_and_another_seed_another() {
        let (a, b, c) = (Random::seeded(1), Random::seeded(1), Random::seeded(2));
        let (first, second) = (a.uuid(), a.uuid());
        assert_eq!((b.uuid(), b.clone().uuid()), (first, second));
        assert_ne!(first, second);
        assert_ne!(c.uuid(), first);
        assert_eq!(first.get_version_num(), 4);
    }

    #[test]
    fn identifiers_made_later_sort_behind() {
        let random = Random::seeded(1);
        let at = |millis: i64| random.uuid_at(Timestamp::from_micros(millis * 1000));
        let (first, same, later) = (at(1_000), at(1_000), at(1_001));
        assert!(first != same && first < later && same < later);
        assert_eq!(first.get_version_num(), 7);
    }

    #[test]
    fn tokens_of_the_system_are_long_and_never_the_same() {
        let random = Random::system();
        let (first, second) = (random.token(), random.token());
        assert_eq!((first.len(), second.len()), (43, 43));
        assert_ne!(first, second);
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let random = Random::seeded(7);
        assert!((0..1000).all(|_| random.below(6) < 6));
        assert_eq!(random.below(0), 0);
    }
}
