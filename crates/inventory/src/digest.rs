//! SHA-256 digests for the database.

use std::io::{self, BufRead as _, BufReader, Read};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// SHA-256 in hexadecimal. Stored instead of secrets and long names.
pub(crate) fn digest(bytes: impl AsRef<[u8]>) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// SHA-256 in hexadecimal of everything that is left to read.
pub(crate) fn digest_of(source: impl Read) -> io::Result<String> {
    let (mut source, mut hasher) = (BufReader::new(source), Sha256::new());
    loop {
        let part = source.fill_buf()?;
        if part.is_empty() {
            return Ok(HEXLOWER.encode(&hasher.finalize()));
        }
        hasher.update(part);
        let length = part.len();
        source.consume(length);
    }
}
