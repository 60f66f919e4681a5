//! Who may call: the check that a request came over HTTPS, and merchants' API keys.

use axum::extract::{FromRequestParts, Request, State as Extracted};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use web::Error;
use web::client::{ClientAddress, Origin};

use crate::app::State;
use crate::payments::database_error;
use crate::request::Refusal;
use crate::{digest, keys};

/// What an operator can do about a proxy that does not say how a request came to it.
const SILENT_PROXY: &str = "A proxy on this machine passes requests on without saying how they came to it. \
     Let it set X-Forwarded-Proto and X-Forwarded-For, or set BALCAO_CHECKOUT_ALLOW_HTTP=true.";

/// Middleware: refuses requests that did not come over HTTPS, their body unread, unless the configuration lifts the check.
pub(crate) async fn https_only(
    Extracted(allow_http): Extracted<bool>,
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

/// The addresses where anybody may pay an amount of their own.
const OPEN: [&str; 2] = ["/", "/create_payment"];

/// Middleware: closes those addresses to callers without a merchant's key where the shop takes orders alone.
pub(crate) async fn open_payments(
    Extracted(state): Extracted<State>,
    request: Request,
    next: Next,
) -> Response {
    let is_open = state.config.open_payments || !OPEN.contains(&request.uri().path());
    if !is_open {
        match Merchant::of(&state, request.headers()).await {
            Ok(Some(_)) => {}
            Ok(None) => return refused().into_response(),
            Err(error) => return error.into_response(),
        }
    }
    next.run(request).await
}

/// A caller with a merchant's API key. As an extractor it answers 401 to everyone else.
#[derive(Debug, Clone)]
pub(crate) struct Merchant {
    key_digest: String,
}

/// Who calls an address that is open to all.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// A merchant, who shows an API key.
    Merchant(Merchant),
    /// Anyone else, known by the address that limits count.
    Client(ClientAddress),
}

impl Merchant {
    /// The merchant whose key the request shows; none when it shows no key.
    ///
    /// # Errors
    /// 401 for a key that is not in force: whoever shows one expects to be known by it.
    async fn of(state: &State, headers: &HeaderMap) -> Result<Option<Self>, Error> {
        let header = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let Some(key) = header.and_then(bearer) else {
            return Ok(None);
        };
        if keys::is_valid(state, key).await.map_err(database_error)? {
            Ok(Some(Self::with_key(key)))
        } else {
            Err(refused())
        }
    }

    pub(crate) fn with_key(key: &str) -> Self {
        Self {
            key_digest: digest::sha256(key.as_bytes()),
        }
    }

    /// The SHA-256 of the API key.
    pub(crate) fn key_digest(&self) -> &str {
        &self.key_digest
    }
}

impl FromRequestParts<State> for Merchant {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Error> {
        Self::of(state, &parts.headers).await?.ok_or_else(refused)
    }
}

impl Caller {
    /// The merchant whose key the request shows, or else the client at `address`.
    ///
    /// # Errors
    /// 401 for a key that is not in force.
    pub(crate) async fn of(
        state: &State,
        headers: &HeaderMap,
        address: ClientAddress,
    ) -> Result<Self, Error> {
        let merchant = Merchant::of(state, headers).await?;
        Ok(merchant.map_or(Self::Client(address), Self::Merchant))
    }

    /// The client whose use of the shop is limited beside that of others; none for merchants, and for programs on this machine.
    pub(crate) fn stranger(&self, origin: Origin) -> Option<ClientAddress> {
        match self {
            Self::Client(client) if !origin.is_local => Some(*client),
            Self::Client(_) | Self::Merchant(_) => None,
        }
    }
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, key) = header.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| key.trim())
        .filter(|key| !key.is_empty())
}

pub(crate) fn refused() -> Error {
    Error::new(StatusCode::UNAUTHORIZED, "Invalid credentials")
        .header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}
