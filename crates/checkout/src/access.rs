//! Access to the API: the check that a request came over HTTPS, and merchants' API keys.

use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use web::Error;
use web::client::{ClientAddress, Origin};
use web::rate::{Key, Limiter};

use crate::digest;
use crate::errors::{database, unknown_outcome};
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

/// Middleware: refuses callers without an API key, for shops that accept only orders.
pub(crate) async fn merchants_only(
    State(keys): State<ApiKeys>,
    request: Request,
    next: Next,
) -> Response {
    match Merchant::of(&keys, request.headers()).await {
        Ok(Some(_)) => next.run(request).await,
        Ok(None) => refused().into_response(),
        Err(error) => unknown_outcome(error).into_response(),
    }
}

/// Middleware: counts a merchant's requests by its key, so that programs on one machine leave each
/// other their share, and all other requests by the client's address. Handlers find the merchant in
/// the request.
pub(crate) async fn limit(
    State((limiter, keys)): State<(Arc<Limiter>, ApiKeys)>,
    mut request: Request,
    next: Next,
) -> Response {
    let client = ClientAddress(Origin::known(request.extensions()).address);
    match limited_merchant(&limiter, &keys, request.headers(), client).await {
        Ok(Some(merchant)) => {
            let key = Key::new(MERCHANTS, merchant.key_digest());
            request.extensions_mut().insert(merchant);
            limiter.count(&key, request, next).await
        }
        Err(refusal) if refusal.status() == StatusCode::TOO_MANY_REQUESTS => {
            refusal.into_response()
        }
        Ok(None) | Err(_) => Limiter::limit(State(limiter), request, next).await,
    }
}

/// As [`Merchant::of`]. The database is asked only while the client has not given too many wrong
/// keys: refusing a request must cost less than making it. The limit is the one of requests.
async fn limited_merchant(
    limiter: &Limiter,
    keys: &ApiKeys,
    headers: &HeaderMap,
    client: ClientAddress,
) -> Result<Option<Merchant>, Error> {
    let Some(merchant) = Merchant::claimed(headers)? else {
        return Ok(None);
    };
    if keys.is_configured(&merchant.key_digest) {
        return Ok(Some(merchant));
    }
    let wrong_keys = Key::of_client(WRONG_KEYS, client);
    limiter.check(&wrong_keys).await?;
    let is_valid = keys
        .is_valid(&merchant.key_digest)
        .await
        .map_err(database)?;
    if !is_valid {
        limiter.add(&wrong_keys).await;
    }
    Ok(is_valid.then_some(merchant))
}

/// A caller with a merchant's API key. As an extractor it responds 401 to all other callers.
#[derive(Debug, Clone)]
pub(crate) struct Merchant {
    key_digest: String,
}

/// The caller of an address that is open to anonymous clients.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// A merchant with a valid API key.
    Merchant(Merchant),
    /// An anonymous client, identified by the IP address that rate limits count.
    Client(ClientAddress),
}

impl Merchant {
    /// The merchant whose key is in the request. `None` without the scheme `Bearer`. An invalid or
    /// empty key is 401: its sender expects to be treated as a merchant.
    pub(crate) async fn of(keys: &ApiKeys, headers: &HeaderMap) -> Result<Option<Self>, Error> {
        let Some(merchant) = Self::claimed(headers)? else {
            return Ok(None);
        };
        let is_valid = keys.is_valid(&merchant.key_digest).await;
        if is_valid.map_err(database)? {
            Ok(Some(merchant))
        } else {
            Err(refused())
        }
    }

    /// The merchant of the key in the request, which is not checked. `None` without the scheme
    /// `Bearer`.
    fn claimed(headers: &HeaderMap) -> Result<Option<Self>, Error> {
        let Some(key) = headers.get(AUTHORIZATION).and_then(bearer) else {
            return Ok(None);
        };
        let key = std::str::from_utf8(key).map_err(|_| refused())?;
        Ok(Some(Self::with_key(key)))
    }

    pub(crate) fn with_key(key: &str) -> Self {
        Self {
            key_digest: digest::sha256(key),
        }
    }

    /// The SHA-256 of the API key.
    pub(crate) fn key_digest(&self) -> &str {
        &self.key_digest
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Merchant
where
    ApiKeys: FromRef<S>,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        if let Some(merchant) = parts.extensions.get::<Self>() {
            return Ok(merchant.clone());
        }
        let keys = ApiKeys::from_ref(state);
        Self::of(&keys, &parts.headers).await?.ok_or_else(refused)
    }
}

impl Caller {
    /// The merchant whose key is in the request, or else the client at `address`. An invalid key is
    /// 401.
    pub(crate) async fn of(
        keys: &ApiKeys,
        headers: &HeaderMap,
        address: ClientAddress,
    ) -> Result<Self, Error> {
        let merchant = Merchant::of(keys, headers).await?;
        Ok(merchant.map_or(Self::Client(address), Self::Merchant))
    }

    /// The client that is subject to limits. `None` for merchants and for programs on this machine.
    pub(crate) fn anonymous_client(&self, origin: Origin) -> Option<ClientAddress> {
        match self {
            Self::Client(client) if !origin.is_local => Some(*client),
            Self::Client(_) | Self::Merchant(_) => None,
        }
    }
}

/// The credentials of the scheme `Bearer`, which may be empty. `None` for any other scheme, such as
/// a proxy's `Basic`.
fn bearer(header: &HeaderValue) -> Option<&[u8]> {
    let header = header.as_bytes().trim_ascii();
    let end = header.iter().position(u8::is_ascii_whitespace);
    let (scheme, key) = header.split_at(end.unwrap_or(header.len()));
    scheme
        .eq_ignore_ascii_case(b"bearer")
        .then(|| key.trim_ascii())
}

/// The header of a response that asks for an API key.
pub(crate) const CHALLENGE: (HeaderName, HeaderValue) =
    (WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));

pub(crate) fn refused() -> Error {
    let (name, value) = CHALLENGE;
    Error::new(StatusCode::UNAUTHORIZED, "Invalid credentials").header(name, value)
}
