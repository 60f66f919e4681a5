//! Fingerprints of common passwords, and of the words that they consist of. Source and licence of
//! the list are in `data/common-passwords/README.md`.

use sha2::{Digest as _, Sha256};

/// The first four bytes of the SHA-256 of each text, sorted.
static FINGERPRINTS: &[u8] = include_bytes!("../../data/common-passwords/fingerprints.bin");

/// Whether a folded password is a common one, or a common word surrounded by digits and signs.
pub(super) fn contains(password: &str) -> bool {
    let (fingerprints, _) = FINGERPRINTS.as_chunks::<4>();
    let is_listed = |text: &str| {
        let digest = Sha256::digest(text.as_bytes());
        let fingerprint = digest.first_chunk::<4>();
        fingerprint.is_some_and(|fingerprint| fingerprints.binary_search(fingerprint).is_ok())
    };
    is_listed(password) || is_listed(&word(password))
}

/// The word within a password: surrounding signs are removed, and signs that look like letters are
/// replaced. `make.py` does the same.
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
