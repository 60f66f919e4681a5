//! The idempotency key of calls that move money.

use http::{HeaderMap, StatusCode};
use sha2::{Digest, Sha256};

use crate::refusal::Refusal;

const KEY_HEADER: &str = "x-idempotency-key";

/// The idempotency key of a request, if it has one.
pub(crate) fn key(headers: &HeaderMap) -> Option<&str> {
    let key = headers.get(KEY_HEADER)?.to_str().ok()?.trim();
    (!key.is_empty()).then_some(key)
}

/// The required idempotency key of a request, with a digest of the body. A retry must have the same
/// body.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Idempotency {
    pub(crate) key: Box<str>,
    pub(crate) fingerprint: u64,
}

impl Idempotency {
    /// # Errors
    /// 4292 when the header is absent or empty.
    pub(crate) fn required(headers: &HeaderMap, body: &[u8]) -> Result<Self, Refusal> {
        let key = key(headers)
            .ok_or_else(|| Refusal::bad(4292, "Header X-Idempotency-Key can't be null"))?;
        let digest = Sha256::digest(body);
        let start = digest.iter().take(8);
        let fingerprint = start.fold(0, |number, byte| (number << 8) | u64::from(*byte));
        Ok(Self {
            key: key.into(),
            fingerprint,
        })
    }
}

/// The refusal of a key that was used for another request. The provider does not document its
/// response. Its client libraries expect a conflict.
pub(crate) fn key_conflict() -> Refusal {
    let message = "The idempotency key was already used with another request";
    Refusal::new(StatusCode::CONFLICT, None, message)
}
