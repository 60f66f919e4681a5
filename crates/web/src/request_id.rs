//! The id of a request: the caller's `X-Request-Id` when it is well formed, else a new one. It is
//! on every response and in every log line.

use axum::extract::FromRequestParts;
use http::header::HeaderName;
use http::request::Parts;
use http::{HeaderMap, HeaderValue};
use uuid::Uuid;

use crate::Random;

/// The header that carries the id, both ways.
pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The id of one request: 1–64 characters of `[A-Za-z0-9._-]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(HeaderValue);

impl RequestId {
    /// The caller's id when it sent exactly one that is well formed, else a new one.
    pub fn of(headers: &HeaderMap, random: &Random) -> Self {
        let mut sent = headers.get_all(HEADER).iter();
        match (sent.next(), sent.next()) {
            (Some(value), None) if is_well_formed(value.as_bytes()) => Self(value.clone()),
            _ => Self::make(random),
        }
    }

    /// A new id: 32 hexadecimal digits.
    pub fn make(random: &Random) -> Self {
        let mut digits = Uuid::encode_buffer();
        let id = random.uuid().simple().encode_lower(&mut digits);
        Self(HeaderValue::from_str(id).unwrap_or_else(|_| HeaderValue::from_static("unknown")))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// The id as a header value.
    pub fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

fn is_well_formed(id: &[u8]) -> bool {
    (1..=64).contains(&id.len())
        && id
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

impl<S: Sync> FromRequestParts<S> for RequestId {
    type Rejection = std::convert::Infallible;

    /// The id that [`HttpStack`](crate::HttpStack) gave the request; `unknown` on a router without
    /// it.
    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        let id = parts.extensions.get::<Self>().cloned();
        Ok(id.unwrap_or_else(|| Self(HeaderValue::from_static("unknown"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_for(values: &[&[u8]]) -> String {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HEADER, HeaderValue::from_bytes(value).unwrap());
        }
        RequestId::of(&headers, &Random::seeded(1))
            .as_str()
            .to_owned()
    }

    #[test]
    fn a_well_formed_id_of_the_caller_is_kept() {
        let longest = "a".repeat(64);
        for id in ["a", "A.b-c_9", longest.as_str()] {
            assert_eq!(id_for(&[id.as_bytes()]), id);
        }
    }

    #[test]
    fn any_other_id_is_replaced_by_one_of_ours() {
        let made = id_for(&[]);
        assert_eq!(made.len(), 32);
        let too_long = "a".repeat(65);
        let hostile: [&[&[u8]]; 8] = [
            &[b""],
            &[too_long.as_bytes()],
            &[b"a b"],
            &[b"a\tb"],
            &[b"<script>"],
            &[b"\xff\xfe"],
            &["é".as_bytes()],
            &[b"one", b"two"],
        ];
        for values in hostile {
            assert_eq!(id_for(values), made, "{values:?}");
        }
    }
}
