//! The service's secret, the other secrets of its configuration, and the keys derived from them.
//! None is ever printed.

mod store;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use data_encoding::HEXLOWER;
use db::{Db, Error};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::digest;

/// Secret bytes that are never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Wraps the secret's bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// A key for a purpose outside of this service. The secret cannot be computed from it.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        self.keyed(&[purpose])
    }

    /// HMAC-SHA256 of the parts. Each is preceded by its length, so that different parts never give
    /// the same bytes.
    pub(crate) fn keyed<Part: AsRef<[u8]>>(&self, parts: &[Part]) -> [u8; 32] {
        let mut mac = self.hmac();
        for part in parts {
            let part = part.as_ref();
            mac.update(&part.len().to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// [`Self::keyed`] as a token for addresses and columns: 43 characters of base64url.
    pub(crate) fn token<Part: AsRef<[u8]>>(&self, parts: &[Part]) -> String {
        URL_SAFE_NO_PAD.encode(self.keyed(parts))
    }

    /// HMAC-SHA256 of a text without a length prefix, in lower-case hexadecimal digits.
    pub(crate) fn sign(&self, text: &str) -> String {
        let mut mac = self.hmac();
        mac.update(text.as_bytes());
        HEXLOWER.encode(&mac.finalize().into_bytes())
    }

    /// The SHA-256 by which an API key is compared.
    pub(crate) fn sha256(&self) -> String {
        digest::sha256(&self.0)
    }

    /// HMAC digests a key longer than the block, and pads a shorter one with zeros (RFC 2104).
    fn hmac(&self) -> Hmac<Sha256> {
        let mut block = [0; 64];
        let digest;
        let key = if self.0.len() > block.len() {
            digest = Sha256::digest(&self.0);
            digest.as_slice()
        } else {
            &self.0
        };
        for (to, from) in block.iter_mut().zip(key) {
            *to = *from;
        }
        Hmac::new(&block.into())
    }
}

web::masked_debug!(Secret);

/// Whether this secret is the one that the database was first used with. The first call stores it.
pub(crate) async fn is_secret_of(db: &Db, secret: &Secret) -> Result<bool, Error> {
    let proof = secret.token(&["proof"]);
    db.write(async move |tx| Ok(store::find_or_insert_proof(tx, &proof).await? == proof))
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_published_one() {
        // RFC 4231, test cases 2 and 6 (a key longer than the block).
        let short = Secret::new("Jefe").sign("what do ya want for nothing?");
        assert_eq!(
            short,
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let long =
            Secret::new([0xaa; 131]).sign("Test Using Larger Than Block-Size Key - Hash Key First");
        assert_eq!(
            long,
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn parts_do_not_run_together() {
        let secret = Secret::new([1; 32]);
        assert_ne!(secret.keyed(&["ab", "c"]), secret.keyed(&["a", "bc"]));
    }
}
