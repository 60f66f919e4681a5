//! SHA-256 digests for the database.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// SHA-256 in hexadecimal. Stored instead of secrets and long names.
pub(crate) fn digest(bytes: impl AsRef<[u8]>) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}
