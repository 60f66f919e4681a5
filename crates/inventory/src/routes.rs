//! The routes of the service: handlers, middleware, and the redirect of paths without a trailing
//! slash.

use std::{sync::LazyLock, time::Duration};

use axum::{
    Router,
    extract::{Request, State as Extracted},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse as _, Response},
    routing::any,
};
use http::{HeaderValue, Method, StatusCode, Uri, header::LOCATION};
use tower::ServiceBuilder;
use utoipa_axum::router::OpenApiRouter;
use web::{
    Error, HttpStack,
    assets::Assets,
    client::{Origin, PublicUrl, to_https},
    compression, docs,
    errors::{self, Renderer, RestErrors},
    health, limits, locale,
    metrics::Metrics,
    openapi::Routes,
    security::{self, Policy},
};

use crate::{
    MIGRATIONS, SERVICE, State, VERSION, analysis,
    api::{
        self,
        gate::{self, RemainingQuota},
    },
    catalogue::{named::Kind, products::Products},
    dashboard,
    error_pages::{self, NegotiatedErrors},
    login,
    openapi::{self, ApiDocument, DOCUMENTS},
    page::{
        self, PageState, RouteAddress, flash,
        routes::{PageRouter, RouterParts},
        visits::visits,
    },
    payments, reorder,
    rest::indent,
    stock::{self, movements::Movement},
    uploads, views,
};

/// The timeout of a request until its response begins.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The timeout of an import.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(300);

/// The router of the service within the HTTP stack.
pub(crate) fn router(state: &State, metrics: Metrics) -> Router {
    let assets = Assets::shared()
        .with::<docs::Viewers>()
        .with::<page::Files>();
    let router = Router::new()
        .merge(api(state))
        .merge(pages(state, &assets))
        .merge(probes(state))
        .merge(assets.routes());
    let stack = HttpStack {
        service: SERVICE,
        random: state.random.clone(),
        proxies: state.config.trusted_proxies.clone(),
        hsts_subdomains: state.config.hsts_subdomains,
        public_url: state.config.public_url.clone(),
        metrics,
    };
    stack.around(router, NegotiatedErrors::new(assets))
}

static API: Routes<State> = Routes::new(|| {
    let movements = Movement::ALL;
    let named = Kind::ALL.into_iter().map(api::routes);
    let moved = movements.into_iter().map(api::routes);
    let resources = named.chain(moved);
    resources
        .fold(OpenApiRouter::new(), OpenApiRouter::merge)
        .merge(api::routes(Products))
        .merge(login::api::routes())
        .merge(stock::api::routes())
        .merge(analysis::api::routes())
});

/// The routes for our own programs. They exist only if their secret is configured.
static INTEGRATIONS: Routes<State> = Routes::new(stock::orders::api::routes);

/// The routes of the pages.
static PAGES: LazyLock<RouterParts> = LazyLock::new(|| {
    let routes = PageRouter::new()
        .merge(dashboard::pages::routes())
        .merge(login::pages::routes())
        .merge(crate::admin::routes())
        .merge(page::shortcuts::routes())
        .merge(page::picker::routes())
        .merge(crate::pages::routes())
        .merge(reorder::pages::routes())
        .merge(payments::pages::routes())
        .merge(views::pages::routes());
    routes
        .map(|routes| routes.merge(locale::routes()))
        .gathered()
});

/// The routes of the pages that accept uploads.
static UPLOADS: LazyLock<RouterParts> = LazyLock::new(|| uploads::routes().gathered());

/// Built once for each process, because it is the slowest part of a start.
static DOCUMENT: LazyLock<ApiDocument> = LazyLock::new(|| {
    openapi::document(API.openapi(), INTEGRATIONS.openapi(), PAGES.openapi.clone())
});

/// The OpenAPI 3.1 document as JSON.
pub fn openapi() -> &'static str {
    &DOCUMENT.json
}

/// The addresses in the OpenAPI document.
pub fn documented_addresses() -> &'static [RouteAddress] {
    &DOCUMENT.addresses
}

/// The addresses of pages and forms, which are not in the OpenAPI document.
pub fn page_addresses() -> impl Iterator<Item = &'static RouteAddress> {
    PAGES.addresses.iter().chain(&UPLOADS.addresses)
}

fn api(state: &State) -> Router {
    let usable = UsableAddresses::of(state);
    let routes = if usable.has_integrations {
        API.router().merge(INTEGRATIONS.router())
    } else {
        API.router()
    };
    routes
        .with_state(state.clone())
        .route("/api/{*unknown}", any(async || Error::not_found()))
        .route("/integrations/{*unknown}", any(async || Error::not_found()))
        .layer(from_fn_with_state(
            (UsableAddresses::of(state), state.config.max_body),
            around_api,
        ))
}

fn pages(state: &State, assets: &Assets) -> Router {
    let page = PageState {
        state: state.clone(),
        assets: assets.clone(),
        saved_address: views::canonical,
    };
    let documents = docs::routes("Balcão inventory", openapi(), DOCUMENTS, assets);
    let everyday = PAGES
        .router
        .clone()
        .merge(documents)
        .route("/{*unknown}", any(async || Error::not_found()))
        // The limit of a JSON body is enough for a form: percent-encoding needs no more bytes than
        // JSON's escapes.
        .layer(
            ServiceBuilder::new()
                .layer(from_fn_with_state(TIMEOUT, limits::timeout))
                .layer(from_fn_with_state(state.config.max_body, limits::body)),
        );
    // Uploads are larger than forms and take longer.
    let files = UPLOADS.router.clone();
    let files = files.layer(from_fn_with_state(UPLOAD_TIMEOUT, limits::timeout));
    everyday.merge(files).with_state(page.clone()).layer(
        ServiceBuilder::new()
            .layer(from_fn(to_https))
            .layer(from_fn_with_state(
                UsableAddresses::of(state),
                usable_address,
            ))
            .layer(from_fn(compression::pages))
            .layer(from_fn_with_state(Policy::Pages, security::headers))
            .layer(from_fn_with_state(
                Renderer::new(NegotiatedErrors::new(assets.clone())),
                errors::render,
            ))
            .layer(from_fn(locale::remember))
            .layer(from_fn_with_state(state.clone(), visits))
            .layer(from_fn(flash::write))
            .layer(from_fn(gate::limit_headers))
            .layer(from_fn_with_state(page, error_pages::render)),
    )
}

fn probes(state: &State) -> Router {
    let db = state.db.clone();
    let is_ready = move || {
        let db = db.clone();
        async move { Ok(db.ready(&MIGRATIONS).await?) }
    };
    // Health checks send no `Accept` header, so errors are always JSON.
    health::routes(SERVICE, VERSION, state.workers.clone(), is_ready).layer(from_fn_with_state(
        Renderer::new(RestErrors),
        errors::render,
    ))
}

/// The settings that decide which addresses can be used.
#[derive(Clone, Copy)]
struct UsableAddresses {
    /// Whether the service is reached by HTTPS, which means that it is public.
    is_public: bool,
    has_integrations: bool,
}

impl UsableAddresses {
    fn of(state: &State) -> Self {
        let address = state.config.public_url.as_ref();
        Self {
            is_public: address.is_some_and(PublicUrl::is_https),
            has_integrations: !state.config.orders_secrets.is_empty(),
        }
    }
}

/// Middleware around the API. It is one axum layer, because each layer boxes its future and clones
/// the inner service. Synchronous steps are plain functions, because each nested future stores the
/// request again.
async fn around_api(
    Extracted((usable, max_body)): Extracted<(UsableAddresses, usize)>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(refusal) = refused_address(usable, &request) {
        return refusal;
    }
    let Some(indent) = indent::requested(request.headers()) else {
        // The HTTP stack renders errors as compact JSON.
        return limited(max_body, request, next).await;
    };
    let handle = async |request| limited(max_body, request, next).await;
    let rendered = errors::render_with(&RestErrors, request, handle);
    let response = Box::pin(rendered).await;
    Box::pin(indent::pretty_print(response, indent)).await
}

/// Handles an API request within the limits of body size, time and rate.
async fn limited(max_body: usize, request: Request, next: Next) -> Response {
    let mut request = limits::with_bounded_body(max_body, request);
    let remaining = RemainingQuota::watch(&mut request);
    let handle = |request| next.run(request);
    let mut response = limits::within(TIMEOUT, |error| error, request, handle).await;
    remaining.apply_headers(&mut response);
    response
}

/// The hint for operators of a proxy that does not send the forwarding headers.
const SILENT_PROXY: &str = "A proxy on this machine passes requests on without saying for whom. Let it set X-Forwarded-For and \
     X-Forwarded-Proto, or do not set BALCAO_INVENTORY_PUBLIC_URL.";

/// Middleware: refuses what [`refused_address`] refuses, and on a public service a form that was
/// sent in the clear. Pretty-prints JSON if `Accept` asks for it.
async fn usable_address(
    Extracted(usable): Extracted<UsableAddresses>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(refusal) = refused_address(usable, &request) {
        return refusal;
    }
    let origin = Origin::known(request.extensions());
    if usable.is_public && !origin.is_secure() && !origin.is_untrusted_proxy {
        return Error::new(StatusCode::BAD_REQUEST, "HTTPS required").into_response();
    }
    let indent = indent::requested(request.headers());
    let response = next.run(request).await;
    match indent {
        Some(indent) => Box::pin(indent::pretty_print(response, indent)).await,
        None => response,
    }
}

/// The response to a request with an unusable address. An invalid `Host` header is refused, since
/// it would appear in links and redirects. On a public service, a local proxy without forwarding
/// headers is refused, since all clients would share one rate limit. A path without its trailing
/// slash is redirected.
fn refused_address(usable: UsableAddresses, request: &Request) -> Option<Response> {
    if !PublicUrl::can_name_host_of(request.headers()) {
        let error = Error::new(StatusCode::BAD_REQUEST, "The Host header is not valid.");
        return Some(error.into_response());
    }
    if usable.is_public && Origin::known(request.extensions()).is_silent_proxy {
        let error = Error::new(StatusCode::BAD_REQUEST, "Bad Request");
        return Some(error.extra("hint", SILENT_PROXY).into_response());
    }
    let location = with_slash(request.uri(), usable.has_integrations)?;
    Some(redirect(location, request.method()))
}

/// Redirects with 301, or with 308 for unsafe methods, which keeps method and body.
fn redirect(location: HeaderValue, method: &Method) -> Response {
    let status = if matches!(*method, Method::GET | Method::HEAD) {
        StatusCode::MOVED_PERMANENTLY
    } else {
        StatusCode::PERMANENT_REDIRECT
    };
    (status, [(LOCATION, location)]).into_response()
}

/// The address with a trailing slash, if that is a known path. It never leads to another site,
/// because it begins like a known path.
fn with_slash(uri: &Uri, has_integrations: bool) -> Option<HeaderValue> {
    let path = uri.path();
    let is_absent = path.starts_with("/integrations/") && !has_integrations;
    if path.ends_with('/') || is_absent || !is_known(&format!("{path}/")) {
        return None;
    }
    let query = uri.query().map(|query| format!("?{query}"));
    HeaderValue::from_str(&format!("{path}/{}", query.unwrap_or_default())).ok()
}

/// Whether a route matches this path.
fn is_known(path: &str) -> bool {
    let mut addresses = documented_addresses().iter().chain(page_addresses());
    addresses.any(|address| matches_pattern(&address.path, path))
}

fn matches_pattern(pattern: &str, path: &str) -> bool {
    let mut segments = path.split('/');
    pattern.split('/').all(|wanted| {
        segments.next().is_some_and(|segment| {
            wanted == segment || (wanted.starts_with('{') && may_be_record(segment))
        })
    }) && segments.next().is_none()
}

/// Whether a segment of a path is not an unknown path by its form, as `RecordId` has it: empty, or
/// with a dot or a slash.
fn may_be_record(segment: &str) -> bool {
    let segment = segment.to_ascii_lowercase();
    !segment.is_empty()
        && ![".", "%2e", "%2f"]
            .iter()
            .any(|part| segment.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_addresses_are_completed() {
        let completed = |uri: &str| {
            let location = with_slash(&uri.parse().unwrap(), false);
            location.map(|location| location.to_str().unwrap().to_owned())
        };
        assert_eq!(
            completed("/api/v1/brands?page=2&x=%C3%A9").as_deref(),
            Some("/api/v1/brands/?page=2&x=%C3%A9")
        );
        assert_eq!(
            completed("/api/v1/products/7").as_deref(),
            Some("/api/v1/products/7/")
        );
        assert_eq!(completed("/login").as_deref(), Some("/login/"));
        for uri in [
            "/",
            "/health",
            "/login/",
            "/api/v1/brands/",
            "/api/v1/Brands",
            "/api/v1",
            "/api/v1//brands",
            "//evil.example",
            "/api/v1/brands/1/2",
            "/api/v1/brands/1.0",
            "/api/v1/brands/1%2F2",
            "/api/v1/brands/%2e",
            "/api/v1/products/1.0/ledger",
            "/integrations/orders",
        ] {
            assert_eq!(completed(uri), None, "{uri}");
        }
    }
}
