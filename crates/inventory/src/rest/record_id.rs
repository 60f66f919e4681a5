//! The record id in an address.

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;

/// The id in an address; none when no record can have it. The handler says so, since a caller
/// without permission must hear of that first. What has a point or a slash in it, or is empty, is
/// no address of the service, and is answered as such to everybody.
#[derive(Debug, Clone, Copy)]
pub struct RecordId(pub Option<i64>);

impl<S: Send + Sync> FromRequestParts<S> for RecordId {
    type Rejection = web::Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, web::Error> {
        // What is no UTF-8 is no id either.
        let Ok(Path(id)) = Path::<String>::from_request_parts(parts, state).await else {
            return Ok(Self(None));
        };
        if id.is_empty() || id.contains(['.', '/']) {
            return Err(web::Error::not_found());
        }
        Ok(Self(parse(&id)))
    }
}

/// An id is written in one way: digits, without a zero before them. One past 64 bits is as unknown
/// as any other.
fn parse(text: &str) -> Option<i64> {
    let is_id = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_id { text.parse().ok() } else { None }
}
