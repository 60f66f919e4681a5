//! What is posted to the web interface: a form or JSON, with the proof that it is not forged.

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
    api::resource::{content_type, read_bytes},
    rest::{Refusal, body, fields::Members},
};

/// Checks that a post is ours and reads its members. Forms always bring a token; JSON does when it
/// comes with a session's cookie, since no page of another site can send it without being asked
/// first; calls whose bearer token says who they are need none.
pub(crate) async fn read(state: &State, parts: &Parts, body: Body) -> Result<Members, Refusal> {
    let bytes = read_bytes(state, body).await?;
    let content_type = content_type(&parts.headers);
    let is_bare = bytes.is_empty() && content_type.is_none() && !wants_json(&parts.headers);
    let form = (is_bare || body::is_form(content_type)).then(|| body::parse_form(&bytes));
    let is_checked = authenticate_bearer(state, parts).await.is_err();
    if is_checked {
        csrf::check_origin(parts)?;
    }
    if is_checked && (form.is_some() || cookies::session(HostOnly::of(parts)).is_some()) {
        let visit = Visit::of(&parts.extensions);
        let field = form.as_ref().and_then(field);
        let field = field.as_deref().map(csrf::Sent::Field);
        let sent = csrf::header(&parts.headers).or(field);
        session::check_token(visit.0.as_deref(), HostOnly::of(parts), sent)?;
    }
    match form {
        Some(members) => Ok(members),
        None => Ok(body::parse(content_type, &bytes)?),
    }
}

fn field(members: &Members) -> Option<String> {
    text(members, csrf::FIELD)
}
