//! Reads the body of a POST to the web interface, a form or JSON, after the CSRF check.

use axum::body::Body;
use http::request::Parts;
use web::{cookie::HostOnly, errors::wants_json};

use super::visits::Visit;
pub(crate) use crate::rest::body::text;
use crate::{
    State,
    accounts::{
        authenticate_bearer, csrf,
        session::{self, cookies},
    },
    api::submission::{content_type, is_held, read_bytes, too_large},
    rest::{Refusal, body, fields::Members},
};

/// The most fields of a form.
const MAX_FIELDS: usize = 5_000;

/// Checks against CSRF and parses the members. Forms always need a token. JSON needs one if the
/// request has a session cookie: another site cannot send JSON without a CORS preflight. Requests
/// with a bearer token need none.
pub(crate) async fn read(state: &State, parts: &Parts, body: Body) -> Result<Members, Refusal> {
    let begun = state.clock.now();
    let bytes = read_bytes(state, body).await?;
    let visit = Visit::of(&parts.extensions);
    if is_held(state, begun) && !visit.is_current(state, parts).await? {
        return Err(Refusal::forbidden());
    }
    let content_type = content_type(&parts.headers);
    let is_bare = bytes.is_empty() && content_type.is_none() && !wants_json(&parts.headers);
    let form = (is_bare || body::is_form(content_type)).then(|| body::parse_form(&bytes));
    let is_checked = authenticate_bearer(state, parts).await.is_err();
    if is_checked {
        csrf::check_origin(parts)?;
    }
    if is_checked && (form.is_some() || cookies::session(HostOnly::of(parts)).is_some()) {
        let field = form.as_ref().and_then(field);
        let field = field.as_deref().map(csrf::SubmittedToken::Field);
        let sent = csrf::header(&parts.headers).or(field);
        session::check_token(visit.0.as_deref(), HostOnly::of(parts), sent)?;
    }
    let members = match form {
        Some(members) => members,
        None => body::parse(content_type, &bytes)?,
    };
    if members.len() > MAX_FIELDS {
        return Err(Refusal::Edge(too_large()));
    }
    Ok(members)
}

fn field(members: &Members) -> Option<String> {
    text(members, csrf::FIELD)
}
