//! The entrance of the API: what every request is checked for, in the order of the conventions,
//! before its resource sees it. Negotiation 406 → authentication 403 (a forged request of a
//! session) and 401 → permission 403 → rate 429 → method 405. What follows (filters, lookup, body,
//! fields) is the resource's.

use std::sync::{Arc, OnceLock};

use axum::{body::Body, extract::Request, middleware::Next, response::Response};
use http::{
    Extensions, HeaderMap, HeaderValue, Method, StatusCode, header::ACCEPT, request::Parts,
};

use web::{
    client::{ClientAddress, Origin},
    rate::{Key, Quota, Rates, Reserve, too_many_requests},
};

use crate::{
    State,
    access::{Caller, Model, Permission, Verb},
    accounts,
    rest::{query::Parameters, refusal::Refusal},
};

/// What an address offers.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint {
    /// Whose permissions count.
    pub model: Model,
    /// Every method that is answered, in the order of `Allow`.
    pub allow: &'static [Method],
}

/// A request that has passed the gate; its body is not read yet.
#[derive(Debug)]
pub struct Call {
    /// Who sends it.
    pub caller: Caller,
    /// Line and headers.
    pub parts: Parts,
    /// The query string.
    pub parameters: Parameters,
    /// The body, unread.
    pub body: Body,
}

/// Checks a request.
///
/// # Errors
///
/// The first check that fails.
pub async fn admit(state: &State, endpoint: Endpoint, request: Request) -> Result<Call, Refusal> {
    let (parts, body) = request.into_parts();
    let parameters = Parameters::of_address(&parts.uri);
    negotiate(&parts.headers, &parameters)?;
    let caller = accounts::authenticate(state, &parts).await?;
    let verb = verb_of(&parts.method);
    if let Some(verb) = verb
        && !caller.may(Permission::new(verb, endpoint.model))
    {
        return Err(Refusal::forbidden());
    }
    throttle(state, &caller, &parts).await?;
    if !endpoint.allow.contains(&parts.method) {
        return Err(Refusal::Method(parts.method, endpoint.allow));
    }
    Ok(Call {
        caller,
        parts,
        parameters,
        body,
    })
}

/// Checks a request to an address that anyone may call: negotiation 406 → rate 429, by the client's
/// address → method 405.
///
/// # Errors
///
/// The first check that fails.
pub async fn admit_anyone(
    state: &State,
    allow: &'static [Method],
    request: Request,
) -> Result<(Parts, Body), Refusal> {
    let (parts, body) = request.into_parts();
    let parameters = Parameters::of_address(&parts.uri);
    negotiate(&parts.headers, &parameters)?;
    throttle_address(state, &parts.extensions).await?;
    if !allow.contains(&parts.method) {
        return Err(Refusal::Method(parts.method, allow));
    }
    Ok((parts, body))
}

/// Checks the method of a request whose signature its handler checks.
///
/// # Errors
///
/// 405
pub fn admit_signed(allow: &'static [Method], request: Request) -> Result<(Parts, Body), Refusal> {
    let (parts, body) = request.into_parts();
    if allow.contains(&parts.method) {
        Ok((parts, body))
    } else {
        Err(Refusal::Method(parts.method, allow))
    }
}

/// Obtaining and checking tokens and logging in share one count for each client address.
///
/// # Errors
///
/// 429
pub async fn throttle_address(state: &State, extensions: &Extensions) -> Result<(), Refusal> {
    let client = ClientAddress(Origin::known(extensions).address);
    let key = Key::of_client("inventory:auth", client);
    let quota = take(state, &key, &state.config.rate_limit_auth).await?;
    note_remaining(extensions, quota);
    Ok(())
}

/// Counts one call of a key.
///
/// # Errors
///
/// 429
pub async fn take(state: &State, key: &Key, rates: &Rates) -> Result<Quota, Refusal> {
    let taken = state.windows.take(key, rates, 1, Reserve::Nothing).await;
    taken.map_err(|throttled| too_many_requests(&throttled).into())
}

/// What is left of the caller's limit, once the request is counted: for the headers of its answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Remaining(Arc<OnceLock<Quota>>);

impl Remaining {
    /// Has it noted for a request that is to be handled.
    pub(crate) fn watch(request: &mut Request) -> Self {
        let remaining = Self::default();
        request.extensions_mut().insert(remaining.clone());
        remaining
    }

    /// Puts it into the headers of the answer, when the request was counted.
    pub(crate) fn apply_headers(&self, response: &mut Response) {
        if let Some(quota) = self.0.get() {
            quota.apply_headers(response);
        }
    }
}

fn note_remaining(extensions: &Extensions, quota: Quota) {
    if let Some(remaining) = extensions.get::<Remaining>() {
        // A request is counted once.
        _ = remaining.0.set(quota);
    }
}

/// Middleware: puts what is left of the caller's limit into the headers of every answer that was
/// counted.
pub async fn limit_headers(mut request: Request, next: Next) -> Response {
    let remaining = Remaining::watch(&mut request);
    let mut response = next.run(request).await;
    remaining.apply_headers(&mut response);
    response
}

/// Which permission a method needs; OPTIONS and methods that nobody has need none beyond being
/// known.
fn verb_of(method: &Method) -> Option<Verb> {
    match *method {
        Method::GET | Method::HEAD => Some(Verb::View),
        Method::POST => Some(Verb::Add),
        Method::PUT | Method::PATCH => Some(Verb::Change),
        Method::DELETE => Some(Verb::Delete),
        _ => None,
    }
}

/// JSON is all there is: an `Accept` that excludes it is 406, another `format` is as an unknown
/// address.
fn negotiate(headers: &HeaderMap, parameters: &Parameters) -> Result<(), Refusal> {
    if parameters
        .get("format")
        .is_some_and(|format| format != "json")
    {
        return Err(Refusal::NotFound);
    }
    if accepts_json(headers) {
        return Ok(());
    }
    Err(not_acceptable().into())
}

/// 406
pub(crate) fn not_acceptable() -> web::Error {
    web::Error::new(
        StatusCode::NOT_ACCEPTABLE,
        "Could not satisfy the request Accept header.",
    )
}

fn accepts_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|range| {
            let essence = range.split(';').next().unwrap_or_default().trim();
            ["application/json", "application/*", "*/*"]
                .iter()
                .any(|known| essence.eq_ignore_ascii_case(known))
        })
}

/// Reads and writes are counted apart, each by user.
async fn throttle(state: &State, caller: &Caller, parts: &Parts) -> Result<(), Refusal> {
    let is_read = matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
    let (kind, rates) = if is_read {
        ("inventory:read", &state.config.rate_limit_read)
    } else {
        ("inventory:write", &state.config.rate_limit_write)
    };
    if !rates.is_off() {
        let key = Key::new(kind, caller.id.to_string());
        let quota = take(state, &key, rates).await?;
        note_remaining(&parts.extensions, quota);
    }
    Ok(())
}

/// The header that says a response depends on `Accept`, and on who is logged in.
pub const VARY: HeaderValue = HeaderValue::from_static("Accept, Cookie");

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(accept: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        accepts_json(&headers)
    }

    #[test]
    fn json_is_all_there_is() {
        assert!(accepts_json(&HeaderMap::new()));
        for accept in [
            "*/*",
            "application/*",
            "application/json",
            "text/html,*/*;q=0.1",
            "APPLICATION/JSON; indent=4",
        ] {
            assert!(accepted(accept), "{accept}");
        }
        for accept in ["", "garbage", "application/xml", "text/plain", "text/html"] {
            assert!(!accepted(accept), "{accept}");
        }
    }
}
