//! Keyed digests: what is derived from the service's secret, and comparing digests in constant time.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::config::Secret;

/// HMAC-SHA256 of the parts, each preceded by its length so that they cannot run together.
pub(crate) fn keyed(secret: &Secret, parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = hmac(secret.expose());
    for part in parts {
        mac.update(&part.len().to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// HMAC-SHA256 of a text as it stands, in lower-case hexadecimal digits.
pub(crate) fn signature(secret: &Secret, text: &str) -> String {
    let mut mac = hmac(secret.expose());
    mac.update(text.as_bytes());
    HEXLOWER.encode(&mac.finalize().into_bytes())
}

/// SHA-256, in lower-case hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Are the two equal? Takes as long whatever differs.
pub(crate) fn is_equal(first: &str, second: &str) -> bool {
    first.as_bytes().ct_eq(second.as_bytes()).into()
}

/// A digest as a token in addresses: 43 characters of base64url.
pub(crate) fn token(digest: [u8; 32]) -> String {
    URL_SAFE_NO_PAD.encode(digest)
}

/// A key of any length: one longer than the block is digested first, a shorter one filled up with zeros (RFC 2104).
fn hmac(key: &[u8]) -> Hmac<Sha256> {
    let mut block = [0; 64];
    let digest;
    let key = if key.len() > block.len() {
        digest = Sha256::digest(key);
        digest.as_slice()
    } else {
        key
    };
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    Hmac::new(&block.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_published_one() {
        // RFC 4231, test cases 2 and 6 (a key longer than the block).
        let short = signature(&Secret::new("Jefe"), "what do ya want for nothing?");
        assert_eq!(
            short,
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let long = signature(
            &Secret::new([0xaa; 131]),
            "Test Using Larger Than Block-Size Key - Hash Key First",
        );
        assert_eq!(
            long,
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn parts_do_not_run_together() {
        let secret = Secret::new([1; 32]);
        assert_ne!(
            keyed(&secret, &[b"ab", b"c"]),
            keyed(&secret, &[b"a", b"bc"])
        );
    }

    #[test]
    fn equal_texts_are_equal() {
        assert!(is_equal("abc", "abc"));
        assert!(!is_equal("abc", "abd"));
        assert!(!is_equal("abc", "ab"));
    }
}
