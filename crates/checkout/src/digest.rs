//! SHA-256, and the comparison of digests in constant time.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// SHA-256, in lower-case hexadecimal digits.
pub(crate) fn sha256(bytes: impl AsRef<[u8]>) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Whether the two are equal. The time does not depend on where they differ.
pub(crate) fn is_equal(first: &str, second: &str) -> bool {
    first.as_bytes().ct_eq(second.as_bytes()).into()
}
