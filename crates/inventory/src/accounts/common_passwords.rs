//! Passwords that are guessed first: fingerprints of known ones, and of words that they are made
//! of. Source and licence of the list are in `data/common-passwords/README.md`.

use sha2::{Digest as _, Sha256};

/// The first bytes of the SHA-256 of each text, sorted.
static FINGERPRINTS: &[u8] = include_bytes!("../../data/common-passwords/fingerprints.bin");

/// Whether a folded password is a known one, or a word of known ones with digits and signs around
/// it.
pub(super) fn contains(password: &str) -> bool {
    let (fingerprints, _) = FINGERPRINTS.as_chunks::<4>();
    let is_listed = |text: &str| {
        let digest = Sha256::digest(text.as_bytes());
        let fingerprint = digest.first_chunk::<4>();
        fingerprint.is_some_and(|fingerprint| fingerprints.binary_search(fingerprint).is_ok())
    };
    is_listed(password) || is_listed(&word(password))
}

/// The word of a password: without what surrounds it, and with letters for the signs that look like
/// them. As in `make.py`.
fn word(password: &str) -> String {
    password
        .trim_matches(|sign: char| !sign.is_alphabetic())
        .chars()
        .map(|sign| match sign {
            '@' | '4' => 'a',
            '3' => 'e',
            '0' => 'o',
            '1' | '!' => 'i',
            '$' | '5' => 's',
            '7' => 't',
            other => other,
        })
        .filter(|sign| sign.is_alphabetic())
        .collect()
}
