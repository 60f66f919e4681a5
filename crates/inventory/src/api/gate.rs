//! The checks that every API request passes before its resource handles it, in the order of the
//! conventions: negotiation 406 → authentication 403 (failed CSRF check of a session) or 401 →
//! permission 403 → rate limit 429 → method 405. The resource then checks filters, record id, body
//! and fields.

use std::sync::{Arc, OnceLock};

use axum::{body::Body, extract::Request, middleware::Next, response::Response};
use http::{
    Extensions, HeaderMap, HeaderValue, Method, StatusCode,
    header::{ACCEPT, CONTENT_TYPE},
    request::Parts,
};

use http_body_util::Limited;
use web::{
    client::{ClientAddress, Origin, check_origin},
    rate::{Key, Quota, Rates, Reserve, too_many_requests},
};

use crate::{
    State,
    access::{Caller, Model, Permission, Verb},
    accounts,
    rest::{
        body::{self, STRANGERS_BODY},
        query::Parameters,
        refusal::Refusal,
    },
};

/// A request that has passed the checks. Its body has not been read.
#[derive(Debug)]
pub struct Call {
    /// The authenticated user.
    pub caller: Caller,
    /// The request line and the headers.
    pub parts: Parts,
    /// The query string.
    pub parameters: Parameters,
    /// The unread body.
    pub body: Body,
}

/// Checks a request of an authenticated user, who needs the permission for the records of `model`.
/// The allowed methods are in the order of the `Allow` header. The error is that of the first check
/// that fails.
pub async fn admit(
    state: &State,
    model: Model,
    allow: &'static [Method],
    request: Request,
) -> Result<Call, Refusal> {
    let (parts, body) = request.into_parts();
    let parameters = Parameters::of_address(&parts.uri);
    negotiate(&parts.headers, &parameters)?;
    let caller = accounts::authenticate(state, &parts).await?;
    if let Some(verb) = verb_of(&parts.method)
        && !caller.may(Permission::new(verb, model))
    {
        return Err(Refusal::forbidden());
    }
    throttle(state, &caller, &parts).await?;
    check_method(&parts, allow)?;
    Ok(Call {
        caller,
        parts,
        parameters,
        body,
    })
}

/// Checks a request to a public endpoint: negotiation 406 → rate limit 429 by the client's address
/// → method 405. What another site can have its visitors send, which is no JSON, counts nowhere: it
/// would lock them out.
pub async fn admit_anyone(
    state: &State,
    allow: &'static [Method],
    request: Request,
) -> Result<(Parts, Body), Refusal> {
    let (parts, body) = request.into_parts();
    let parameters = Parameters::of_address(&parts.uri);
    negotiate(&parts.headers, &parameters)?;
    let content_type = parts.headers.get(CONTENT_TYPE);
    let is_json = content_type.is_some_and(|kind| body::is_json(kind.to_str().ok()));
    if is_json || check_origin(&parts).is_ok() {
        throttle_address(state, &parts.extensions).await?;
    }
    check_method(&parts, allow)?;
    let body = Body::new(Limited::new(body, STRANGERS_BODY));
    Ok((parts, body))
}

/// Checks the method of a request. 405 if it is not allowed.
pub fn check_method(parts: &Parts, allow: &'static [Method]) -> Result<(), Refusal> {
    if allow.contains(&parts.method) {
        Ok(())
    } else {
        Err(Refusal::Method(parts.method.clone(), allow))
    }
}

/// Counts a request for tokens or a login against the limit of the client's address. 429 above it.
pub async fn throttle_address(state: &State, extensions: &Extensions) -> Result<(), Refusal> {
    let client = ClientAddress(Origin::known(extensions).address);
    let key = Key::of_client("inventory:auth", client);
    let quota = take(state, &key, &state.config.rate_limit_auth).await?;
    set_remaining(extensions, quota);
    Ok(())
}

/// Counts one request under a key. 429 above the rates.
pub async fn take(state: &State, key: &Key, rates: &Rates) -> Result<Quota, Refusal> {
    let quota = state.windows.take(key, rates, 1, Reserve::Nothing).await;
    quota.map_err(|throttled| too_many_requests(&throttled).into())
}

/// The remaining quota of the caller, for the headers of the response. Set once the request has
/// been counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct RemainingQuota(Arc<OnceLock<Quota>>);

impl RemainingQuota {
    /// Inserts an empty value into the request's extensions and returns a handle to it.
    pub(crate) fn watch(request: &mut Request) -> Self {
        let remaining = Self::default();
        request.extensions_mut().insert(remaining.clone());
        remaining
    }

    /// Adds the rate limit headers to the response, if the request was counted.
    pub(crate) fn apply_headers(&self, response: &mut Response) {
        if let Some(quota) = self.0.get() {
            quota.apply_headers(response);
        }
    }
}

fn set_remaining(extensions: &Extensions, quota: Quota) {
    if let Some(remaining) = extensions.get::<RemainingQuota>() {
        // A request is counted only once.
        _ = remaining.0.set(quota);
    }
}

/// Middleware: adds the rate limit headers to the response of every counted request.
pub async fn limit_headers(mut request: Request, next: Next) -> Response {
    let remaining = RemainingQuota::watch(&mut request);
    let mut response = next.run(request).await;
    remaining.apply_headers(&mut response);
    response
}

/// The permission that a method requires. `OPTIONS` and unknown methods require only
/// authentication.
fn verb_of(method: &Method) -> Option<Verb> {
    match *method {
        Method::GET | Method::HEAD => Some(Verb::View),
        Method::POST => Some(Verb::Add),
        Method::PUT | Method::PATCH => Some(Verb::Change),
        Method::DELETE => Some(Verb::Delete),
        _ => None,
    }
}

/// Content negotiation. Only JSON is supported: an `Accept` header that excludes it is 406, another
/// `format` parameter is 404.
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

/// 406 with the conventional text.
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
        .any(|range| body::is_json(Some(range)))
}

/// Counts a request against the user's limit. Reads and writes have separate limits.
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
        set_remaining(&parts.extensions, quota);
    }
    Ok(())
}

/// The value of the `Vary` header: a response depends on the accepted format and the session.
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
