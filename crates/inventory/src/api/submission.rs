//! The request to create or change a record: its body, read completely and within the limit, and
//! its idempotency key. Parsing is in `body`.

use std::{error::Error as StdError, time::Duration};

use axum::body::{Body, Bytes};
use db::Timestamp;
use http::{HeaderMap, StatusCode, header::CONTENT_TYPE};
use http_body_util::LengthLimitError;

use super::gate::Call;
use crate::{
    State,
    access::Caller,
    accounts,
    digest::digest,
    idempotency::IdempotencyKey,
    rest::{body, fields::Members, refusal::Refusal},
};

/// A request to create or change a record.
#[derive(Debug)]
pub struct Submission {
    /// The authenticated user.
    pub caller: Caller,
    /// The parsed members of the body.
    pub members: Members,
}

/// Reads the body of a request. 413, 415 or 400 if it cannot be read.
pub async fn submission(state: &State, call: Call) -> Result<Submission, Refusal> {
    let (submission, _) = repeatable_submission(state, call, None).await?;
    Ok(submission)
}

/// Reads the body of a request, and its idempotency key if the resource at `path` accepts one.
pub(super) async fn repeatable_submission(
    state: &State,
    call: Call,
    path: Option<&'static str>,
) -> Result<(Submission, Option<IdempotencyKey>), Refusal> {
    let Call {
        caller,
        parts,
        body,
        ..
    } = call;
    let begun = state.clock.now();
    let bytes = read_bytes(state, body).await?;
    if is_held(state, begun) && accounts::authenticate(state, &parts).await? != caller {
        return Err(Refusal::forbidden());
    }
    let members = body::parse(content_type(&parts.headers), &bytes)?;
    let key = match path {
        Some(path) => idempotency_key(&parts.headers)?.map(|key| IdempotencyKey {
            user: caller.id,
            path,
            key,
            fingerprint: digest(&bytes),
        }),
        None => None,
    };
    Ok((Submission { caller, members }, key))
}

/// Reads a body as the members of one JSON object.
pub async fn read_members(
    state: &State,
    headers: &HeaderMap,
    body: Body,
) -> Result<Members, Refusal> {
    let bytes = read_bytes(state, body).await?;
    Ok(body::parse(content_type(headers), &bytes)?)
}

/// The `Content-Type` header, as sent.
pub fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers.get(CONTENT_TYPE)?.to_str().ok()
}

/// Reads a complete body, within the limit. 413 for a body that is too large, 400 for one that ends
/// early.
pub async fn read_bytes(state: &State, body: Body) -> Result<Bytes, Refusal> {
    axum::body::to_bytes(body, state.config.max_body)
        .await
        .map_err(read_error)
}

/// Whether a body arrived so slowly that its sender's rights may have ended meanwhile. The sender is
/// then authenticated again: nobody keeps rights by holding requests back.
pub(crate) fn is_held(state: &State, begun: Timestamp) -> bool {
    state.clock.now().since(begun) > Duration::from_secs(1)
}

/// 413 with the conventional text.
pub(crate) fn too_large() -> web::Error {
    web::Error::new(StatusCode::PAYLOAD_TOO_LARGE, "Payload Too Large")
}

fn read_error(error: axum::Error) -> Refusal {
    let outermost: &(dyn StdError + 'static) = &error;
    let mut causes = std::iter::successors(Some(outermost), |&cause| cause.source());
    let refusal = if causes.any(<dyn StdError>::is::<LengthLimitError>) {
        too_large()
    } else {
        web::Error::new(StatusCode::BAD_REQUEST, "The body ends before its time.")
    };
    refusal.cause(error).into()
}

/// The `Idempotency-Key` header in the OpenAPI document.
pub(super) struct IdempotencyKeyHeader;

impl IdempotencyKeyHeader {
    /// The most characters.
    pub(super) const MAX: usize = 255;
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let mut values = headers.get_all("idempotency-key").iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    match (value.to_str().map(str::trim), values.next()) {
        (Ok(key), None) if (1..=IdempotencyKeyHeader::MAX).contains(&key.len()) => {
            Ok(Some(key.to_owned()))
        }
        _ => Err(web::Error::new(
            StatusCode::BAD_REQUEST,
            "Idempotency-Key must be 1 to 255 visible ASCII characters, once.",
        )
        .into()),
    }
}
