//! The caller's idempotency key: which header carries it and what it may contain. Pure.

use std::time::Duration;

use http::HeaderMap;

/// How long an answer is kept for repetitions of its key.
pub const KEPT: Duration = Duration::from_secs(72 * 60 * 60);
/// The longest key, in characters.
pub const LENGTH_MAX: usize = 255;
/// The header's name in problem reports.
pub const FIELD: &str = "Idempotency-Key";
/// On every answer that was given before.
pub const REPLAYED: &str = "idempotent-replayed";

/// A caller's key: 1 to 255 visible characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

/// Why a header is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// More than [`LENGTH_MAX`] characters.
    #[error("must be at most {LENGTH_MAX} characters")]
    TooLong,
    /// Something other than printable ASCII.
    #[error("must be printable ASCII")]
    NotPrintable,
    /// One header with two values: which of them the caller will repeat cannot be known.
    #[error("must be given once")]
    Several,
}

impl IdempotencyKey {
    /// The key in `Idempotency-Key`, or else in `X-Idempotency-Key`; none if both are absent or blank.
    ///
    /// # Errors
    /// `KeyError` when the header holds what cannot be a key.
    pub fn from_headers(headers: &HeaderMap) -> Result<Option<Self>, KeyError> {
        for name in ["idempotency-key", "x-idempotency-key"] {
            let mut values = headers.get_all(name).iter();
            if let Some(value) = values.next() {
                if values.any(|other| other != value) {
                    return Err(KeyError::Several);
                }
                let text = value.to_str().map_err(|_| KeyError::NotPrintable)?;
                if let Some(key) = Self::parse(text)? {
                    return Ok(Some(key));
                }
            }
        }
        Ok(None)
    }

    fn parse(text: &str) -> Result<Option<Self>, KeyError> {
        let text = text.trim();
        if text.len() > LENGTH_MAX {
            return Err(KeyError::TooLong);
        }
        Ok((!text.is_empty()).then(|| Self(text.to_owned())))
    }

    /// The key as the caller wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    fn key(pairs: &[(&'static str, &str)]) -> Result<Option<String>, KeyError> {
        IdempotencyKey::from_headers(&headers(pairs))
            .map(|key| key.map(|key| key.as_str().to_owned()))
    }

    #[test]
    fn either_header_carries_the_key_and_the_standard_one_wins() {
        assert_eq!(key(&[("idempotency-key", "a")]), Ok(Some("a".into())));
        assert_eq!(key(&[("x-idempotency-key", "b")]), Ok(Some("b".into())));
        assert_eq!(
            key(&[("x-idempotency-key", "b"), ("idempotency-key", "a")]),
            Ok(Some("a".into()))
        );
    }

    #[test]
    fn a_header_that_is_given_twice_is_a_key_only_if_both_say_the_same() {
        let twice = |one, two| key(&[("idempotency-key", one), ("idempotency-key", two)]);
        assert_eq!(twice("a", "b"), Err(KeyError::Several));
        assert_eq!(twice("a", "a"), Ok(Some("a".into())));
    }

    #[test]
    fn no_header_and_a_blank_one_are_no_key() {
        assert_eq!(key(&[]), Ok(None));
        assert_eq!(key(&[("idempotency-key", "  ")]), Ok(None));
    }

    #[test]
    fn a_key_of_255_characters_is_the_longest() {
        assert!(
            key(&[("idempotency-key", &"k".repeat(255))])
                .unwrap()
                .is_some()
        );
        assert_eq!(
            key(&[("idempotency-key", &"k".repeat(256))]),
            Err(KeyError::TooLong)
        );
    }

    #[test]
    fn a_key_that_is_not_ascii_is_refused() {
        assert_eq!(
            key(&[("idempotency-key", "ção")]),
            Err(KeyError::NotPrintable)
        );
    }
}
