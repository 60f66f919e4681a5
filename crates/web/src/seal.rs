//! Authenticated encryption of texts: ChaCha20-Poly1305 (RFC 8439) under a key that is not in the
//! database. For secrets that are needed in clear, unlike passwords: those of second factors and
//! webhook endpoints, and logins that wait for the second factor.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::Random;

/// Seals and opens texts for one purpose; what was sealed for another does not open.
pub struct Seal(LessSafeKey);

impl Seal {
    /// A seal under a key of its own.
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "a key of the algorithm's length is always one"
    )]
    pub fn new(key: [u8; 32]) -> Self {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).expect("a key of 32 bytes");
        Self(LessSafeKey::new(key))
    }

    /// The sealed text. `owner` must be the same at opening: the secret of one record is of no use
    /// in another's row.
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "only texts of many gigabytes cannot be sealed"
    )]
    pub fn close(&self, random: &Random, owner: i64, text: &str) -> String {
        let mut nonce = [0; NONCE_LEN];
        random.fill(&mut nonce);
        let mut sealed = text.as_bytes().to_vec();
        self.0
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(owner.to_be_bytes()),
                &mut sealed,
            )
            .expect("a short text");
        let whole = [nonce.as_slice(), &sealed].concat();
        URL_SAFE_NO_PAD.encode(whole)
    }

    /// The sealed text; `None` when it was changed, or sealed with another key, for another purpose
    /// or another owner.
    pub fn open(&self, owner: i64, sealed: &str) -> Option<String> {
        let whole = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = whole.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut sealed = sealed.to_vec();
        let aad = Aad::from(owner.to_be_bytes());
        let text = self.0.open_in_place(nonce, aad, &mut sealed).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_key_and_owner_open_what_was_sealed() {
        let random = Random::seeded(1);
        let (seal, other) = (Seal::new([1; 32]), Seal::new([2; 32]));
        let sealed = seal.close(&random, 7, "JBSWY3DPEHPK3PXP");
        assert!(!sealed.contains("JBSW"));
        assert_eq!(seal.open(7, &sealed).as_deref(), Some("JBSWY3DPEHPK3PXP"));
        assert_eq!(seal.open(8, &sealed), None);
        assert_eq!(other.open(7, &sealed), None);
        assert_ne!(seal.close(&random, 7, "JBSWY3DPEHPK3PXP"), sealed);
        for changed in ["", "A", "€", &sealed[1..], &format!("{sealed}A")] {
            assert_eq!(seal.open(7, changed), None, "{changed}");
        }
    }
}
