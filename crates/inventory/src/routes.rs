//! The service's addresses: their handlers, the layers before them, and the redirect of addresses without their trailing slash.

use std::{sync::LazyLock, time::Duration};

use axum::{
    Router,
    extract::Request,
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse as _, Response},
    routing::any,
};
use http::{HeaderValue, Method, StatusCode, Uri, header::LOCATION};
use tower::ServiceBuilder;
use web::{
    Edge, Error,
    assets::Assets,
    client::PublicUrl,
    compression, docs,
    errors::{self, Conventional, Renderer},
    health, limits, locale,
    metrics::Metrics,
    security::{self, Policy},
};

use crate::{
    MIGRATIONS, OPENAPI, SERVICE, State, VERSION, accounts,
    accounts::session::visits::visits,
    analysis,
    catalogue::{self, named::Kind},
    dashboard, events,
    page::{self, PageState, Shapes, flash},
    rest::{
        gate, indent,
        resource::{IMMUTABLE, LIST, MUTABLE},
    },
    router as resources, stock, transfer,
};

const POST: &[Method] = &[Method::POST, Method::OPTIONS];
const READ: &[Method] = &[Method::GET, Method::HEAD, Method::OPTIONS];
const READ_AND_PUT: &[Method] = &[Method::GET, Method::PUT, Method::HEAD, Method::OPTIONS];
const GET: &[Method] = &[Method::GET, Method::HEAD];
const FORM: &[Method] = &[Method::GET, Method::HEAD, Method::POST];
const SENT: &[Method] = &[Method::POST];

/// An address, with its methods.
type Address = (&'static str, &'static [Method]);

/// Every address that programs call: those of the API's document.
pub static ROUTES: LazyLock<Vec<Address>> = LazyLock::new(|| {
    const NAMED: &[Address] = &[("", LIST), ("{id}/", MUTABLE)];
    addresses(OTHER_ROUTES, "/api/v1/", NAMED)
});

/// Every address that only people read: pages and their forms. They are not in the API's document.
pub static PAGES: LazyLock<Vec<Address>> = LazyLock::new(|| {
    const NAMED: &[Address] = &[
        ("", GET),
        ("export/", GET),
        ("new/", FORM),
        ("{id}/", GET),
        ("{id}/edit/", FORM),
        ("{id}/delete/", FORM),
    ];
    addresses(OTHER_PAGES, "/", NAMED)
});

/// The addresses of a table, and those below each kind of named records. They are made once, and kept.
fn addresses(others: &[Address], above: &str, below: &[Address]) -> Vec<Address> {
    let named = Kind::ALL.into_iter().flat_map(|kind| {
        below.iter().map(move |(path, methods)| {
            let path: &'static str = format!("{above}{}/{path}", kind.path()).leak();
            (path, *methods)
        })
    });
    others.iter().copied().chain(named).collect()
}

const OTHER_ROUTES: &[Address] = &[
    ("/api/v1/authentication/token/", POST),
    ("/api/v1/authentication/token/refresh/", POST),
    ("/api/v1/authentication/token/verify/", POST),
    ("/api/v1/products/", LIST),
    ("/api/v1/products/{id}/", MUTABLE),
    ("/api/v1/products/{id}/ledger/", READ),
    ("/api/v1/products/{id}/threshold/", READ_AND_PUT),
    ("/api/v1/products/{id}/restock/", READ_AND_PUT),
    ("/api/v1/low-stock/", READ),
    ("/api/v1/analyses/", READ),
    ("/api/v1/analyses/{id}/", READ),
    ("/api/v1/inflows/", LIST),
    ("/api/v1/inflows/{id}/", IMMUTABLE),
    ("/api/v1/outflows/", LIST),
    ("/api/v1/outflows/{id}/", IMMUTABLE),
    ("/api/v1/docs/", GET),
    ("/api/v1/redoc/", GET),
    ("/api/v1/schema/", GET),
    ("/", GET),
    ("/login/", FORM),
    ("/logout/", POST),
    ("/token/refresh/", POST),
    ("/preferences", &[Method::POST]),
    ("/health", GET),
    ("/ready", GET),
];

const OTHER_PAGES: &[Address] = &[
    ("/admin/", GET),
    ("/admin/login/", FORM),
    ("/admin/password_change/", GET),
    ("/admin/{model}/", FORM),
    ("/admin/{model}/add/", FORM),
    ("/admin/{model}/{id}/", GET),
    ("/admin/{model}/{id}/change/", FORM),
    ("/admin/{model}/{id}/delete/", FORM),
    ("/admin/{model}/{id}/history/", GET),
    ("/admin/{model}/{id}/password/", FORM),
    ("/login/code/", FORM),
    ("/shortcuts/", FORM),
    ("/account/", FORM),
    ("/account/password/", FORM),
    ("/account/second-factor/", FORM),
    ("/account/second-factor/off/", SENT),
    ("/account/second-factor/recovery-codes/", SENT),
    ("/account/sessions/", GET),
    ("/account/sessions/{id}/end/", SENT),
    ("/account/sessions/end-others/", SENT),
    ("/account/tokens/revoke/", SENT),
    ("/analyses/", FORM),
    ("/analyses/{id}/", GET),
    ("/analyses/product/{id}/", GET),
    ("/analyses/product/{id}/terms/", SENT),
    ("/webhooks/", GET),
    ("/webhooks/redeliver-failed/", SENT),
    ("/webhooks/new/", FORM),
    ("/webhooks/{id}/", GET),
    ("/webhooks/{id}/edit/", FORM),
    ("/webhooks/{id}/secret/", FORM),
    ("/webhooks/{id}/delete/", FORM),
    ("/webhooks/{id}/test/", SENT),
    ("/webhooks/{id}/enable/", SENT),
    ("/webhooks/{id}/disable/", SENT),
    ("/webhooks/deliveries/{id}/", GET),
    ("/webhooks/deliveries/{id}/redeliver/", SENT),
    ("/dashboard/figures/", GET),
    ("/dashboard/events/", GET),
    ("/products/", GET),
    ("/products/export/", GET),
    ("/products/new/", FORM),
    ("/products/{id}/", GET),
    ("/products/{id}/edit/", FORM),
    ("/products/{id}/delete/", FORM),
    ("/products/{id}/ledger/", GET),
    ("/inflows/", GET),
    ("/inflows/export/", GET),
    ("/inflows/new/", FORM),
    ("/inflows/{id}/", GET),
    ("/inflows/{id}/delete/", FORM),
    ("/outflows/", GET),
    ("/outflows/export/", GET),
    ("/outflows/new/", FORM),
    ("/outflows/{id}/", GET),
    ("/outflows/{id}/delete/", FORM),
    ("/low-stock/", GET),
    ("/low-stock/export/", GET),
    ("/pick/{source}/", GET),
    ("/import/", FORM),
    ("/import/{id}/", GET),
    ("/import/{id}/confirm/", FORM),
    ("/import/{id}/undo/", FORM),
];

/// Where the API's documents are.
const DOCUMENTS: docs::Paths = docs::Paths {
    swagger_ui: "/api/v1/docs/",
    redoc: "/api/v1/redoc/",
    schema: "/api/v1/schema/",
};

/// The longest that a request may take until its answer begins.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest that the import of a file may take.
const FILE_PATIENCE: Duration = Duration::from_secs(300);

/// The whole service, with the edge around it.
pub(crate) fn router(state: &State, metrics: Metrics) -> Router {
    let assets = Assets::shared()
        .with::<docs::Viewers>()
        .with::<page::Files>();
    let router = Router::new()
        .merge(api(state))
        .merge(pages(state, &assets))
        .merge(probes(state))
        .merge(assets.routes());
    let edge = Edge {
        service: SERVICE,
        random: state.random.clone(),
        proxies: state.config.trusted_proxies.clone(),
        hsts_subdomains: state.config.hsts_subdomains,
        public_url: state.config.public_url.clone(),
        metrics,
    };
    edge.around(router, Shapes::new(assets))
}

fn api(state: &State) -> Router {
    resources(state.clone())
        .route("/api/{*unknown}", any(async || Error::not_found()))
        .layer(
            ServiceBuilder::new()
                .layer(from_fn(door))
                .layer(from_fn_with_state(
                    Renderer::new(Conventional),
                    errors::render,
                ))
                .layer(from_fn_with_state(PATIENCE, limits::timeout))
                .layer(from_fn_with_state(state.config.max_body, limits::body))
                .layer(from_fn(gate::tell_limits)),
        )
}

fn pages(state: &State, assets: &Assets) -> Router {
    let page = PageState {
        state: state.clone(),
        assets: assets.clone(),
    };
    let documents = docs::routes("Balcão inventory", OPENAPI.as_str(), DOCUMENTS, assets);
    let everyday = Router::new()
        .merge(documents)
        .merge(dashboard::pages::routes())
        .merge(analysis::pages::routes())
        .merge(accounts::pages::routes())
        .merge(crate::admin::routes())
        .merge(page::shortcuts::routes())
        .merge(page::picker::routes())
        .merge(catalogue::pages())
        .merge(stock::pages::routes())
        .merge(events::pages::routes())
        .merge(locale::routes())
        .route("/{*unknown}", any(async || Error::not_found()))
        // What the API takes a page takes: a form says it in no more bytes than JSON may, where each character is an escape.
        .layer(
            ServiceBuilder::new()
                .layer(from_fn_with_state(PATIENCE, limits::timeout))
                .layer(from_fn_with_state(state.config.max_body, limits::body)),
        );
    // Files are larger than forms, and take longer.
    let files =
        transfer::uploads::routes().layer(from_fn_with_state(FILE_PATIENCE, limits::timeout));
    everyday.merge(files).with_state(page.clone()).layer(
        ServiceBuilder::new()
            .layer(from_fn(door))
            .layer(from_fn(compression::pages))
            .layer(from_fn_with_state(Policy::Pages, security::headers))
            .layer(from_fn_with_state(
                Renderer::new(Shapes::new(assets.clone())),
                errors::render,
            ))
            .layer(from_fn(locale::remember))
            .layer(from_fn_with_state(state.clone(), visits))
            .layer(from_fn(flash::write))
            .layer(from_fn(gate::tell_limits))
            .layer(from_fn_with_state(page, page::errors::render)),
    )
}

fn probes(state: &State) -> Router {
    let db = state.db.clone();
    let is_ready = move || {
        let db = db.clone();
        async move { Ok(db.ready(&MIGRATIONS).await?) }
    };
    // Whoever probes is a program, and says nothing of what it accepts.
    health::routes(SERVICE, VERSION, state.workers.clone(), is_ready).layer(from_fn_with_state(
        Renderer::new(Conventional),
        errors::render,
    ))
}

/// Middleware: what every request meets first. One to a host that no address can name is refused: it would stand in `next`, `previous` and redirects.
/// An address without its last slash leads to the one with it. An answer is written over lines where that is asked for.
async fn door(request: Request, next: Next) -> Response {
    if !PublicUrl::can_name_host_of(request.headers()) {
        return Error::new(StatusCode::BAD_REQUEST, "The Host header is not valid.")
            .into_response();
    }
    if let Some(location) = with_slash(request.uri()) {
        return led_to(location, request.method());
    }
    let indent = indent::asked(request.headers());
    let response = next.run(request).await;
    match indent {
        Some(indent) => Box::pin(indent::over_lines(response, indent)).await,
        None => response,
    }
}

/// 301 for readers, 308 for others, which keeps method and body.
fn led_to(location: HeaderValue, method: &Method) -> Response {
    let status = if matches!(*method, Method::GET | Method::HEAD) {
        StatusCode::MOVED_PERMANENTLY
    } else {
        StatusCode::PERMANENT_REDIRECT
    };
    (status, [(LOCATION, location)]).into_response()
}

/// The address with its last slash, when that is one of ours. Never another site's: it begins like one of the table.
fn with_slash(uri: &Uri) -> Option<HeaderValue> {
    let path = uri.path();
    if path.ends_with('/') || !is_known(&format!("{path}/")) {
        return None;
    }
    let query = uri.query().map(|query| format!("?{query}"));
    HeaderValue::from_str(&format!("{path}/{}", query.unwrap_or_default())).ok()
}

/// Whether the tables have an address for this path.
fn is_known(path: &str) -> bool {
    let addresses = ROUTES.iter().chain(PAGES.iter());
    addresses
        .into_iter()
        .any(|(pattern, _)| matches_pattern(pattern, path))
}

fn matches_pattern(pattern: &str, path: &str) -> bool {
    let mut segments = path.split('/');
    pattern.split('/').all(|wanted| {
        segments.next().is_some_and(|segment| {
            wanted == segment || (wanted.starts_with('{') && !segment.is_empty())
        })
    }) && segments.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_addresses_are_completed() {
        let completed = |uri: &str| {
            with_slash(&uri.parse().unwrap()).map(|location| location.to_str().unwrap().to_owned())
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
        ] {
            assert_eq!(completed(uri), None, "{uri}");
        }
    }
}
