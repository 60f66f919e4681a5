//! Access to the API: the check that a request came over HTTPS, and merchants' API keys.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, StatusCode};
use web::Error;
use web::client::{ClientAddress, Origin};
use web::rate::{Key, Limiter};

use crate::digest;
use crate::errors::database;
use crate::keys::ApiKeys;
use crate::request::Refusal;

/// The kind of the rate limits of merchants.
const MERCHANTS: &str = "checkout:merchants";
/// The kind of the counts of wrong keys.
const WRONG_KEYS: &str = "checkout:keys";
/// Log text for an operator whose proxy does not report the scheme of requests.
const SILENT_PROXY: &str = "A proxy on this machine passes requests on without saying how they came to it. \
     Let it set X-Forwarded-Proto and X-Forwarded-For, or set BALCAO_CHECKOUT_ALLOW_HTTP=true.";

/// Middleware: refuses requests that did not come over HTTPS before their body is read, unless the
/// configuration lifts the check.
pub(crate) async fn https_only(
    State(allow_http): State<bool>,
    request: Request,
    next: Next,
) -> Response {
    let origin = Origin::known(request.extensions());
    if allow_http || origin.is_secure() {
        return next.run(request).await;
    }
    let refused = Error::from(Refusal::https_required());
    if origin.is_silent_proxy {
        return refused.extra("hint", SILENT_PROXY).into_response();
    }
    refused.into_response()
}

/// Finds out who sends a request, before anything else reads the request.
#[derive(Clone)]
pub(crate) struct Gate {
    keys: ApiKeys,
    /// Counts wrong keys by the client's address.
    wrong_keys: Limiter,
    /// Adds to an error of the database.
    on_failure: fn(Error) -> Error,
}

/// A caller with a merchant's API key. As an extractor it responds 401 to all other callers.
#[derive(Debug, Clone)]
pub(crate) struct Merchant {
    key_digest: String,
}

/// The caller of an address that is open to anonymous clients. As an extractor it responds 401 to a
/// wrong or empty key: its sender expects to be treated as a merchant.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// A merchant with a valid API key.
    Merchant(Merchant),
    /// An anonymous client, identified by the IP address that rate limits count.
    Client {
        address: ClientAddress,
        /// Whether it is a program on this machine.
        is_local: bool,
    },
}

/// Marks a request with a wrong or empty key.
#[derive(Debug, Clone, Copy)]
struct WrongKey;

/// What [`Gate::identify`] leaves in a request.
type Identified = Result<Caller, WrongKey>;

impl Gate {
    /// The limit of wrong keys is the one of requests.
    pub(crate) fn new(state: &crate::state::State, on_failure: fn(Error) -> Error) -> Self {
        let (windows, rates) = (state.windows.clone(), state.config.rate_limit.clone());
        Self {
            keys: state.keys.clone(),
            wrong_keys: Limiter::new(WRONG_KEYS, windows, rates),
            on_failure,
        }
    }

    /// Middleware: leaves the request's caller, or that its key is wrong, in the request. The
    /// database is asked only while the client has not given too many wrong keys: refusing a
    /// request must cost less than making it.
    pub(crate) async fn identify(
        State(this): State<Self>,
        mut request: Request,
        next: Next,
    ) -> Response {
        let origin = Origin::known(request.extensions());
        match this.caller(request.headers(), origin).await {
            Ok(caller) => {
                request.extensions_mut().insert(caller);
                next.run(request).await
            }
            Err(refusal) => refusal.into_response(),
        }
    }

    async fn caller(&self, headers: &HeaderMap, origin: Origin) -> Result<Identified, Error> {
        let address = ClientAddress(origin.address);
        let Some(key) = headers.get(AUTHORIZATION).and_then(bearer) else {
            let is_local = origin.is_local;
            return Ok(Ok(Caller::Client { address, is_local }));
        };
        let merchant = Merchant::with_key(key);
        if self.keys.is_configured(&merchant.key_digest) {
            return Ok(Ok(Caller::Merchant(merchant)));
        }
        let wrong_keys = Key::of_client(WRONG_KEYS, address);
        self.wrong_keys.check(&wrong_keys).await?;
        let is_stored = self.keys.is_stored(&merchant.key_digest).await;
        if is_stored.map_err(|error| (self.on_failure)(database(error)))? {
            return Ok(Ok(Caller::Merchant(merchant)));
        }
        self.wrong_keys.add(&wrong_keys).await;
        Ok(Err(WrongKey))
    }
}

/// Middleware: refuses callers without an API key, for shops that accept only orders.
pub(crate) async fn merchants_only(_: Merchant, request: Request, next: Next) -> Response {
    next.run(request).await
}

/// Middleware: counts a merchant's requests by its key, so that programs on one machine leave each
/// other their share, and all other requests by the client's address.
pub(crate) async fn limit(
    State(limiter): State<Arc<Limiter>>,
    request: Request,
    next: Next,
) -> Response {
    match Caller::known(request.extensions()) {
        Ok(Caller::Merchant(merchant)) => {
            let key = Key::new(MERCHANTS, merchant.key_digest());
            limiter.count(&key, request, next).await
        }
        Ok(Caller::Client { .. }) | Err(_) => Limiter::limit(State(limiter), request, next).await,
    }
}

impl Merchant {
    /// The merchant of a key.
    pub(crate) fn with_key(key: impl AsRef<[u8]>) -> Self {
        Self {
            key_digest: digest::sha256(key),
        }
    }

    /// Refuses a key that was revoked while the body of its request was held back.
    pub(crate) async fn confirm(&self, keys: &ApiKeys) -> Result<(), Error> {
        let is_valid = keys.is_valid(&self.key_digest).await.map_err(database)?;
        if is_valid { Ok(()) } else { Err(refused()) }
    }

    /// The SHA-256 of the API key.
    pub(crate) fn key_digest(&self) -> &str {
        &self.key_digest
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Merchant {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Error> {
        match Caller::known(&parts.extensions)? {
            Caller::Merchant(merchant) => Ok(merchant),
            Caller::Client { .. } => Err(refused()),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Error> {
        Self::known(&parts.extensions)
    }
}

impl Caller {
    /// The caller that [`Gate::identify`] found.
    pub(crate) fn known(request: &Extensions) -> Result<Self, Error> {
        let found = request.get::<Identified>().cloned();
        let caller = found.ok_or_else(|| Error::internal("the route identifies no caller"))?;
        caller.map_err(|WrongKey| refused())
    }

    /// The client that is subject to limits. `None` for merchants and for programs on this machine.
    pub(crate) const fn anonymous_client(&self) -> Option<ClientAddress> {
        match self {
            Self::Client {
                address,
                is_local: false,
            } => Some(*address),
            Self::Client { .. } | Self::Merchant(_) => None,
        }
    }
}

/// What merchants write in place of `Bearer`.
const SLIPS: [&[u8]; 4] = [b"token", b"key", b"apikey", b"api-key"];

/// The credentials of the scheme `Bearer`, which may be empty. A key without its scheme, or with
/// another one for keys, is a merchant's slip and counts as an empty key. `None` for other schemes: a
/// proxy may let its own credentials through.
fn bearer(header: &HeaderValue) -> Option<&[u8]> {
    let header = header.as_bytes().trim_ascii();
    let end = header.iter().position(u8::is_ascii_whitespace);
    let (scheme, key) = header.split_at(end.unwrap_or(header.len()));
    let is = |name: &[u8]| scheme.eq_ignore_ascii_case(name);
    if is(b"bearer") {
        return Some(key.trim_ascii());
    }
    let is_slip = end.is_none() || SLIPS.into_iter().any(is);
    is_slip.then_some(&[])
}

/// The header of a response that asks for an API key.
pub(crate) const CHALLENGE: (HeaderName, HeaderValue) =
    (WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));

pub(crate) fn refused() -> Error {
    let (name, value) = CHALLENGE;
    Error::new(StatusCode::UNAUTHORIZED, "Invalid credentials").header(name, value)
}
