//! The answers of the API: records and pages of records as JSON, and the headers that all have.

use axum::{
    extract::FromRequestParts as _,
    response::{IntoResponse, Response},
};
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{ALLOW, CONTENT_TYPE, VARY},
};
use serde::Serialize;
use web::{client::PublicUrl, json::RECORD_BYTES};

use super::gate::{self, Call};
use crate::rest::{page::Page, query::with_query, refusal::Refusal};

/// The result of a creation.
#[derive(Debug)]
pub enum Created<T> {
    /// A new record.
    New(T),
    /// The stored response body of an earlier request with the same idempotency key.
    Replayed(String),
}

/// The response to a creation.
pub(super) fn created<T: Serialize>(created: Created<T>) -> Response {
    match created {
        Created::New(record) => json(StatusCode::CREATED, &record),
        Created::Replayed(body) => {
            let headers = [
                (CONTENT_TYPE, HeaderValue::from_static("application/json")),
                (
                    HeaderName::from_static("idempotent-replayed"),
                    HeaderValue::from_static("true"),
                ),
            ];
            (StatusCode::CREATED, headers, body).into_response()
        }
    }
}

/// A response with a record as JSON.
pub fn json<T: Serialize>(status: StatusCode, record: &T) -> Response {
    web::json::answer(RECORD_BYTES, status, record)
}

/// The response body of one page.
#[derive(Serialize)]
pub(super) struct Pagination<'page, T> {
    pub(super) count: u64,
    pub(super) next: Option<String>,
    pub(super) previous: Option<String>,
    pub(super) results: &'page [T],
}

/// The response with a page and the addresses of the next and the previous one.
pub async fn paginated<T: Serialize>(mut call: Call, page: &Page<T>) -> Response {
    let Ok(base) = PublicUrl::from_request_parts(&mut call.parts, &()).await;
    let address = |page: Option<u64>| {
        let query = call.parameters.with_page(page);
        base.join(&with_query(call.parts.uri.path(), &query))
    };
    let is_last = page.number.saturating_mul(page.size) >= page.count;
    let next = (!is_last).then(|| address(Some(page.number + 1)));
    let previous = match page.number {
        0 | 1 => None,
        2 => Some(address(None)),
        number => Some(address(Some(number - 1))),
    };
    web::json::answer(
        RECORD_BYTES * page.results.len().max(1),
        StatusCode::OK,
        &Pagination {
            count: page.count,
            next,
            previous,
            results: &page.results,
        },
    )
}

/// Adds the headers that all responses of an endpoint have.
pub fn answer(allow: &HeaderValue, result: Result<Response, Refusal>) -> Response {
    let mut response = result.unwrap_or_else(|refusal| web::Error::from(refusal).into_response());
    response.headers_mut().insert(ALLOW, allow.clone());
    response.headers_mut().insert(VARY, gate::VARY);
    response
}
