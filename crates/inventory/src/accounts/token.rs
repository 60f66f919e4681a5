//! JSON Web Tokens with HS256 and our own claims (RFC 7519, RFC 7515). They are implemented here,
//! because one algorithm takes sixty lines and the libraries support many others as well. The HMAC
//! is ring's: every request needs one, and its assembly takes half the time of portable code.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use db::Timestamp;
use ring::hmac;
use serde::{Deserialize, Serialize};

/// `{"alg":"HS256","typ":"JWT"}`, the header of all tokens that are issued.
const HEADER: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
/// The longest token that is parsed, in bytes.
const MAX_LENGTH: usize = 2048;

/// The type of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenType {
    /// An access token for the API; valid for a day by default.
    Access,
    /// A refresh token, which obtains access tokens; valid for a week by default.
    Refresh,
}

/// The claims of a token. Times are seconds since 1970, as RFC 7519 defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The type.
    pub token_type: TokenType,
    /// The second from which on it is expired.
    pub exp: i64,
    /// The second in which it was issued.
    pub iat: i64,
    /// The second before which it is not valid. Our tokens have none, but another holder of the key
    /// may set it (RFC 7519, section 4.1.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<i64>,
    /// The unique id, 32 hexadecimal digits. Revoked tokens are stored by it.
    pub jti: String,
    /// The user's id as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
}

impl Claims {
    /// The user's id, if it is a number.
    pub fn user(&self) -> Option<i64> {
        self.user_id.as_deref().and_then(|user| user.parse().ok())
    }
}

/// Why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The token is malformed, has the wrong signature, or is not valid yet.
    #[error("Token is invalid")]
    Invalid,
    /// The token is expired.
    #[error("Token is expired")]
    Expired,
    /// An access token instead of a refresh token, or the reverse.
    #[error("Token has wrong type")]
    WrongType,
}

/// The key that signs tokens, shared by all replicas.
#[derive(Clone)]
pub struct TokenKey(hmac::Key);

web::masked_debug!(TokenKey);

impl TokenKey {
    /// The key of these bytes. The configuration checks their length.
    pub fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// Derives a key for another purpose. It does not reveal this key. No token begins like a
    /// purpose, so signatures cannot be confused.
    pub(crate) fn derive(&self, purpose: &str) -> [u8; 32] {
        let mut key = [0; 32];
        key.copy_from_slice(hmac::sign(&self.0, purpose.as_bytes()).as_ref());
        key
    }

    /// Signs claims and returns the token.
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "claims are numbers and texts, which are always JSON"
    )]
    pub fn sign(&self, claims: &Claims) -> String {
        let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(claims).expect("claims are JSON"));
        let signed = format!("{HEADER}.{payload}");
        let mac = hmac::sign(&self.0, signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac))
    }

    /// Verifies a token of either type and returns its claims. Algorithms other than HS256,
    /// including `none`, are invalid.
    pub fn verify(&self, token: &str, now: Timestamp) -> Result<Claims, TokenError> {
        if token.len() > MAX_LENGTH {
            return Err(TokenError::Invalid);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Invalid)?;
        let (header, payload) = signed.split_once('.').ok_or(TokenError::Invalid)?;
        let decode = |part| {
            let decoded = URL_SAFE_NO_PAD.decode(part);
            decoded.map_err(|_| TokenError::Invalid)
        };
        let signature = decode(signature)?;
        // Checked in constant time, before the token's content is parsed.
        hmac::verify(&self.0, signed.as_bytes(), &signature).map_err(|_| TokenError::Invalid)?;
        if !is_hs256(header) {
            return Err(TokenError::Invalid);
        }
        let claims: Claims =
            serde_json::from_slice(&decode(payload)?).map_err(|_| TokenError::Invalid)?;
        let has_come = |second: i64| now.micros() >= second.saturating_mul(1_000_000);
        if !claims.nbf.is_none_or(has_come) {
            Err(TokenError::Invalid)
        } else if has_come(claims.exp) {
            Err(TokenError::Expired)
        } else {
            Ok(claims)
        }
    }

    /// Same as [`Self::verify`], but the token must have this type. The type is checked last.
    pub fn verify_type(
        &self,
        token: &str,
        token_type: TokenType,
        now: Timestamp,
    ) -> Result<Claims, TokenError> {
        let claims = self.verify(token, now)?;
        if claims.token_type == token_type {
            Ok(claims)
        } else {
            Err(TokenError::WrongType)
        }
    }
}

/// Whether a verified header names HS256. Other members and their order do not matter.
fn is_hs256(header: &str) -> bool {
    #[derive(Deserialize)]
    struct Header {
        alg: String,
    }
    if header == HEADER {
        return true;
    }
    let decoded = URL_SAFE_NO_PAD.decode(header).unwrap_or_default();
    serde_json::from_slice(&decoded).is_ok_and(|header: Header| header.alg == "HS256")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000_000);

    fn claims(token_type: TokenType) -> Claims {
        Claims {
            token_type,
            exp: 2000,
            iat: 1000,
            nbf: None,
            jti: "ab".repeat(16),
            user_id: Some("1".to_owned()),
        }
    }

    #[test]
    fn a_token_is_not_valid_before_its_time() {
        let key = TokenKey::new(b"a secret of thirty-two characters");
        for (nbf, expected) in [
            (Some(1001), Some(TokenError::Invalid)),
            (Some(i64::MAX), Some(TokenError::Invalid)),
            (Some(1000), None),
            (None, None),
        ] {
            let mut claims = claims(TokenType::Access);
            claims.nbf = nbf;
            let verified = key.verify(&key.sign(&claims), NOW);
            assert_eq!(verified.err(), expected, "{nbf:?}");
        }
    }

    #[test]
    fn a_token_says_what_was_signed() {
        let key = TokenKey::new(b"a secret of thirty-two characters");
        let token = key.sign(&claims(TokenType::Access));
        assert_eq!(
            key.verify_type(&token, TokenType::Access, NOW),
            Ok(claims(TokenType::Access))
        );
        let payload = token
            .split('.')
            .nth(1)
            .map(|part| URL_SAFE_NO_PAD.decode(part));
        let expected = format!(
            r#"{{"token_type":"access","exp":2000,"iat":1000,"jti":"{}","user_id":"1"}}"#,
            "ab".repeat(16)
        );
        assert_eq!(payload, Some(Ok(expected.into_bytes())));
    }

    #[test]
    fn the_signature_of_the_standard_is_made() {
        // RFC 7515, appendix A.1 signs with this key. Its header has other members, which are
        // ignored.
        let key = URL_SAFE_NO_PAD
            .decode("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
            .expect("a key");
        let token = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let (signed, signature) = token.rsplit_once('.').expect("three parts");
        let mac = hmac::sign(&TokenKey::new(&key).0, signed.as_bytes());
        assert_eq!(URL_SAFE_NO_PAD.encode(mac), signature);
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let key = TokenKey::new(b"a secret of thirty-two characters");
        let token = key.sign(&claims(TokenType::Refresh));
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("text");
            assert!(
                changed == token || key.verify(&changed, NOW).is_err(),
                "{at}"
            );
        }
    }
}
