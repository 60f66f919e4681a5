//! The record id in a request's path.

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;

use super::Refusal;

/// The record id of a path. `None` if no record can have such an id: the handler answers 404, with
/// [`RecordId::known`], only after it has checked the caller's permission. A segment that is empty or
/// contains a dot or a slash is an unknown path, which is 404 for everybody.
#[derive(Debug, Clone, Copy)]
pub struct RecordId(pub Option<i64>);

impl RecordId {
    /// The id. 404 if no record can have it.
    pub fn known(self) -> Result<i64, Refusal> {
        self.0.ok_or(Refusal::NotFound)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RecordId {
    type Rejection = web::Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, web::Error> {
        // Invalid UTF-8 is not an id.
        let Ok(Path(id)) = Path::<String>::from_request_parts(parts, state).await else {
            return Ok(Self(None));
        };
        if id.is_empty() || id.contains(['.', '/']) {
            return Err(web::Error::not_found());
        }
        Ok(Self(parse(&id)))
    }
}

/// An id has one spelling: digits without a leading zero. An id that exceeds 64 bits is unknown.
fn parse(text: &str) -> Option<i64> {
    let is_id = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_id { text.parse().ok() } else { None }
}
