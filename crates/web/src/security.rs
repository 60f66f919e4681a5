//! Security headers: what a browser may load, run and embed, and what may be cached.
//!
//! Everything is forbidden first, and each kind of router allows what it needs. A header that a
//! handler or an inner router has set is kept.

use std::sync::LazyLock;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{Extensions, HeaderMap, HeaderValue};

use crate::client::Origin;

/// What responses of a router allow a browser to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Nothing: data for programs.
    Api,
    /// Our pages: scripts, styles, pictures, fonts and requests of this site; pictures as `data:`
    /// for QR codes. No inline code.
    Pages,
    /// The documents' viewers. Swagger UI and Redoc write their styles into the page as they run,
    /// and Redoc searches in a worker it makes itself, so both need what no page of ours may have:
    /// inline styles and `blob:` workers. Scripts stay those of this site.
    Documents,
    /// A picture that is not ours: one that is opened by itself (SVG) draws itself and does nothing
    /// else.
    Picture,
}

impl Policy {
    /// The headers, made once: each response begins with a copy.
    fn headers(self) -> &'static HeaderMap {
        static API: LazyLock<HeaderMap> = LazyLock::new(|| headers_of(Policy::Api));
        static PAGES: LazyLock<HeaderMap> = LazyLock::new(|| headers_of(Policy::Pages));
        static DOCUMENTS: LazyLock<HeaderMap> = LazyLock::new(|| headers_of(Policy::Documents));
        static PICTURE: LazyLock<HeaderMap> = LazyLock::new(|| headers_of(Policy::Picture));
        match self {
            Self::Api => &API,
            Self::Pages => &PAGES,
            Self::Documents => &DOCUMENTS,
            Self::Picture => &PICTURE,
        }
    }

    const fn content(self) -> &'static str {
        match self {
            Self::Api => {
                "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
            }
            Self::Pages => {
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; \
                 manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
            }
            Self::Documents => {
                "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; \
                 connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
            }
            Self::Picture => {
                "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox"
            }
        }
    }
}

/// The headers that are the same for every router.
const ALWAYS: [(HeaderName, &str); 7] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    // Addresses of ours may carry tokens: other sites must not learn them.
    (REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "accelerometer=(), camera=(), geolocation=(), gyroscope=(), microphone=(), payment=(), usb=()",
    ),
    (CACHE_CONTROL, "no-store"),
];

/// Keeps a proxy from buffering a response.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Room for these headers and those that answers usually have.
const ROOM: usize = 16;

/// On a request: HSTS includes subdomains.
#[derive(Clone, Copy)]
pub(crate) struct WithSubdomains;

/// Middleware: puts the headers of a policy on every response that does not have them.
pub async fn headers(State(policy): State<Policy>, request: Request, next: Next) -> Response {
    let headers = Headers::new(policy, request.extensions());
    let mut response = next.run(request).await;
    headers.apply(&mut response);
    response
}

/// The headers for the response to one request.
pub(crate) struct Headers {
    policy: Policy,
    strict_transport_security: Option<&'static str>,
}

impl Headers {
    /// Those of a policy, for a request with these extensions.
    pub(crate) fn new(policy: Policy, request: &Extensions) -> Self {
        let keeps_https = request
            .get::<Origin>()
            // Not for this machine: other programs on `localhost` share the host name.
            .is_some_and(|origin| origin.is_https && !origin.address.is_loopback());
        let value = || match request.get::<WithSubdomains>() {
            Some(WithSubdomains) => "max-age=31536000; includeSubDomains",
            None => "max-age=31536000",
        };
        Self {
            policy,
            strict_transport_security: keeps_https.then(value),
        }
    }

    /// Adds those that the response does not have.
    pub(crate) fn apply(self, response: &mut Response) {
        // The response has fewer, so its own join these.
        let policy = match self.policy {
            // An error page beside the pages' router, such as that of too long an address.
            Policy::Api if is_page(response.headers()) => Policy::Pages,
            policy => policy,
        };
        let mut headers = policy.headers().clone();
        if let Some(value) = self.strict_transport_security {
            headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(value));
        }
        let own = std::mem::take(response.headers_mut());
        headers.extend(own);
        if is_event_stream(&headers) {
            // nginx then does not buffer it, whatever its settings are.
            headers.insert(UNBUFFERED, HeaderValue::from_static("no"));
        }
        *response.headers_mut() = headers;
    }
}

fn is_page(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}

/// Whether a response is an endless stream.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

fn headers_of(policy: Policy) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(ROOM);
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(policy.content()),
    );
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
}

/// Lets one response make a browser do what a policy allows, whatever its router says.
pub(crate) fn allow(policy: Policy, response: &mut Response) {
    response
        .headers_mut()
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(policy.content()));
}
