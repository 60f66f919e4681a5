//! The access token and the card token.

use bytes::Bytes;
use http::HeaderValue;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The bearer token of the configuration. Erased from memory when dropped, and never printed.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct AccessToken(String);

/// The text cannot be a header's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an access token is one or more visible ASCII characters")]
pub struct AccessTokenError;

web::masked_debug!(AccessToken, CardToken);

impl AccessToken {
    /// Parses a token. Surrounding whitespace, as in a file, is trimmed.
    ///
    /// # Errors
    /// When the token is empty or has characters other than visible ASCII.
    pub fn parse(text: &str) -> Result<Self, AccessTokenError> {
        let token = text.trim();
        if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(token.to_owned()))
        } else {
            Err(AccessTokenError)
        }
    }

    /// Masks the token in a response, whatever member repeats it.
    pub(super) fn mask_in(&self, body: &mut Bytes) {
        if let Ok(text) = std::str::from_utf8(body)
            && text.contains(&self.0)
        {
            *body = text.replace(&self.0, "****").into();
        }
    }

    /// The value of the header `Authorization`, marked as sensitive.
    pub(super) fn header(&self) -> Result<HeaderValue, http::header::InvalidHeaderValue> {
        let mut value = HeaderValue::try_from(format!("Bearer {}", self.0))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

/// The provider's token for a card, valid for one payment. Erased from memory when dropped, and
/// never printed.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct CardToken(String);

impl CardToken {
    /// Wraps a token from the provider or from the database.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The token, to be sent, or stored while its attempt is unfinished.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_token_shows_itself_in_no_debug_text() {
        let token = AccessToken::parse(" APP_USR-123\n").unwrap();
        assert_eq!(format!("{token:?}"), "AccessToken(****)");
        let header = token.header().unwrap();
        assert_eq!(header, "Bearer APP_USR-123");
        assert_eq!(format!("{header:?}"), "Sensitive");
    }

    #[test]
    fn an_access_token_can_stand_in_a_header() {
        for wrong in ["", " ", "a b", "a\nb", "é"] {
            assert!(AccessToken::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
