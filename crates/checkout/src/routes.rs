//! The service's addresses: which handler answers, and what stands before it.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use http::Method;
use tower::ServiceBuilder;
use web::assets::Assets;
use web::errors::{self, Detailed, ForReaders, Pages, Renderer};
use web::limits::Late;
use web::rate::{Limiter, Period, Rate};
use web::{Edge, compression, docs, health, limits};

use crate::access::https_only;
use crate::app::State;
use crate::{MIGRATIONS, OPENAPI, SERVICE, VERSION, notifications, page, payments};

/// Every address of the service with its methods, for the check of the API document against the router.
pub const ROUTES: &[(&str, &[Method])] = &[
    ("/", &[Method::GET]),
    ("/create_payment", &[Method::POST]),
    ("/payments/", &[Method::GET]),
    ("/payments/outcome", &[Method::GET]),
    ("/payments/{id}", &[Method::GET, Method::PUT]),
    ("/payments/{id}/refunds", &[Method::POST]),
    ("/payments/{id}/status", &[Method::GET]),
    ("/payments/{id}/events", &[Method::GET]),
    ("/payments/{id}/artefacts", &[Method::GET]),
    ("/notifications", &[Method::POST]),
    ("/health", &[Method::GET]),
    ("/ready", &[Method::GET]),
    ("/docs", &[Method::GET]),
    ("/redoc", &[Method::GET]),
    ("/openapi.json", &[Method::GET]),
];

/// Where the API's documents are.
const DOCUMENTS: docs::Paths = docs::Paths {
    swagger_ui: "/docs",
    redoc: "/redoc",
    schema: "/openapi.json",
};

/// What a page of the web interface may be asked for by one client.
const PAGE_RATE: Rate = Rate::new(600, Period::Minute);

/// The statuses that tell of a provider which fails.
const PROVIDER_FAILED: [u16; 2] = [502, 503];

/// The whole service, with the edge around it.
pub(crate) fn router(state: &State) -> Router {
    for (path, method) in ROUTES
        .iter()
        .flat_map(|(path, methods)| methods.iter().map(move |method| (path, method)))
    {
        for status in PROVIDER_FAILED {
            state.figures.begin_requests(SERVICE, path, method, status);
        }
    }
    let assets = assets();
    let errors = Detailed::new(state.clock.clone());
    let programs = api(state).merge(probes(state)).layer(from_fn_with_state(
        Renderer::new(errors.clone()),
        errors::render,
    ));
    let router = programs.merge(pages(state, &assets)).merge(assets.routes());
    let edge = Edge {
        service: SERVICE,
        random: state.random.clone(),
        proxies: state.config.trusted_proxies.clone(),
        hsts_subdomains: state.config.hsts_subdomains,
        public_url: state.config.public_url.clone(),
        metrics: state.figures.clone(),
    };
    edge.around(router, ForReaders::new(Pages::new(assets), errors))
}

/// Gathered once for each process: their digests take longer than all else that a start does.
fn assets() -> Assets {
    static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
        Assets::shared()
            .with::<page::Files>()
            .with::<docs::Viewers>()
    });
    ASSETS.clone()
}

fn api(state: &State) -> Router {
    let limiter = Arc::new(Limiter::by_address(
        "checkout",
        state.windows.clone(),
        state.config.rate_limit.clone(),
    ));
    // A creation makes at most four calls one after the other.
    let patience = state.config.provider.timeout * 4 + Duration::from_secs(10);
    let common = |late: Late| {
        ServiceBuilder::new()
            .layer(from_fn_with_state(state.config.allow_http, https_only))
            .layer(from_fn_with_state((patience, late), limits::timeout_with))
            // A payment is never left half made because its buyer hung up.
            .layer(from_fn(limits::to_the_end))
    };
    let rate_limit = from_fn_with_state(limiter, Limiter::limit);
    let moving_money = Router::new()
        .route("/create_payment", post(payments::api::payment_create))
        .route("/payments/{id}/refunds", post(payments::api::refund_create))
        .layer(
            ServiceBuilder::new()
                .layer(rate_limit.clone())
                .layer(common(payments::unknown_outcome)),
        );
    let of_clients = Router::new()
        .route("/payments/", get(payments::api::payment_list))
        .route("/payments/outcome", get(payments::api::payment_outcome))
        .route(
            "/payments/{id}",
            get(payments::api::payment_read).put(payments::api::payment_cancel),
        )
        .route("/payments/{id}/status", get(payments::api::payment_status))
        .route("/payments/{id}/events", get(payments::api::payment_events))
        .route(
            "/payments/{id}/artefacts",
            get(payments::api::payment_artefacts),
        )
        .layer(
            ServiceBuilder::new()
                .layer(rate_limit)
                .layer(common(|error| error)),
        );
    // The provider tells of every payment from a few addresses: a limit for clients would hold its news back. Without a
    // valid signature it costs next to nothing, and unsigned hints have a limit of their own.
    let of_the_provider = Router::new()
        .route(
            "/notifications",
            post(notifications::api::notification_receive),
        )
        .layer(common(|error| error));
    moving_money
        .merge(of_clients)
        .merge(of_the_provider)
        .with_state(state.clone())
}

fn pages(state: &State, assets: &Assets) -> Router {
    let limiter = Limiter::by_address("checkout:pages", state.windows.clone(), PAGE_RATE.into());
    page::routes(state.config.shop.clone(), assets.clone())
        .merge(docs::routes("Balcão checkout", OPENAPI, DOCUMENTS, assets))
        .layer(
            ServiceBuilder::new()
                .layer(from_fn(compression::pages))
                .layer(from_fn_with_state(Arc::new(limiter), Limiter::limit))
                .layer(from_fn(web::client::to_https)),
        )
}

fn probes(state: &State) -> Router {
    let db = state.db.clone();
    let is_ready = move || {
        let db = db.clone();
        async move { Ok(db.ready(&MIGRATIONS).await?) }
    };
    health::routes(SERVICE, VERSION, state.workers.clone(), is_ready)
}
