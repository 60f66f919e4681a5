//! The service's addresses: which handler answers, and what stands before it.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use tower::ServiceBuilder;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use web::assets::Assets;
use web::errors::{self, Detailed, ForReaders, Pages, Renderer};
use web::limits::Late;
use web::openapi::Routes;
use web::rate::{Limiter, Period, Rate};
use web::{HttpStack, compression, docs, health, limits};

use crate::access::{https_only, open_payments};
use crate::app::State;
use crate::openapi::{openapi as document, operations};
use crate::{MIGRATIONS, SERVICE, VERSION, notifications, orders, page, payments};

/// Where the API's documents are.
pub(crate) const DOCUMENTS: docs::Paths = docs::Paths {
    swagger_ui: "/docs",
    redoc: "/redoc",
    schema: "/openapi.json",
};

/// What a page of the web interface may be asked for by one client.
const PAGE_RATE: Rate = Rate::new(600, Period::Minute);

/// The statuses that tell of a provider which fails.
const PROVIDER_FAILED: [u16; 2] = [502, 503];

/// The whole service, with the HTTP stack around it.
pub(crate) fn router(state: &State) -> Router {
    for (path, method) in operations() {
        for status in PROVIDER_FAILED {
            state.figures.begin_requests(SERVICE, path, method, status);
        }
    }
    let assets = page::assets(&state.config.shop, assets());
    let errors = Detailed::new(state.clock.clone());
    let programs = api(state).merge(probes(state)).layer(from_fn_with_state(
        Renderer::new(errors.clone()),
        errors::render,
    ));
    let router = programs.merge(pages(state, &assets)).merge(assets.routes());
    let stack = HttpStack {
        service: SERVICE,
        random: state.random.clone(),
        proxies: state.config.trusted_proxies.clone(),
        hsts_subdomains: state.config.hsts_subdomains,
        public_url: state.config.public_url.clone(),
        metrics: state.figures.clone(),
    };
    stack.around(router, ForReaders::new(Pages::new(assets), errors))
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
    let patience = payments::patience(state.config.provider.timeout);
    let common = |late: Late| {
        ServiceBuilder::new()
            .layer(from_fn_with_state(state.config.allow_http, https_only))
            .layer(from_fn_with_state((patience, late), limits::timeout_with))
            // A payment is never left half made because its buyer hung up.
            .layer(from_fn(limits::to_the_end))
    };
    let for_clients = |late| {
        let limit = from_fn_with_state(limiter.clone(), Limiter::limit);
        ServiceBuilder::new().layer(limit).layer(common(late))
    };
    // The provider tells of every payment from a few addresses: a limit for clients would hold its news back. Without a
    // valid signature it costs next to nothing, and unsigned hints have a limit of their own.
    let of_the_provider = OF_THE_PROVIDER.router().layer(common(|error| error));
    let open = from_fn_with_state(state.clone(), open_payments);
    let moving_money = OPEN_PAYMENTS.router().layer(open);
    moving_money
        .merge(MOVING_MONEY.router())
        .layer(for_clients(payments::unknown_outcome))
        .merge(OF_CLIENTS.router().layer(for_clients(|error| error)))
        .merge(of_the_provider)
        .with_state(state.clone())
}

/// The API's operations, as their handlers describe them.
pub(crate) fn api_described() -> OpenApi {
    let mut all = OPEN_PAYMENTS.openapi();
    all.merge(MOVING_MONEY.openapi());
    all.merge(OF_CLIENTS.openapi());
    all.merge(OF_THE_PROVIDER.openapi());
    all
}

static OPEN_PAYMENTS: Routes<State> =
    Routes::new(|| OpenApiRouter::new().routes(routes!(payments::api::payment_create)));

static MOVING_MONEY: Routes<State> = Routes::new(|| {
    OpenApiRouter::new()
        .routes(routes!(payments::api::refund_create))
        .routes(routes!(orders::api::order_pay))
});

static OF_CLIENTS: Routes<State> = Routes::new(|| {
    OpenApiRouter::new()
        .routes(routes!(payments::api::payment_list))
        .routes(routes!(payments::api::payment_outcome))
        .routes(routes!(
            payments::api::payment_read,
            payments::api::payment_cancel
        ))
        .routes(routes!(payments::following::payment_status))
        .routes(routes!(payments::following::payment_events))
        .routes(routes!(payments::following::payment_artefacts))
        .routes(routes!(orders::api::order_create, orders::api::order_list))
        .routes(routes!(orders::api::order_read))
        .routes(routes!(orders::api::order_cancel))
});

static OF_THE_PROVIDER: Routes<State> =
    Routes::new(|| OpenApiRouter::new().routes(routes!(notifications::api::notification_receive)));

fn pages(state: &State, assets: &Assets) -> Router {
    let limiter = Limiter::by_address("checkout:pages", state.windows.clone(), PAGE_RATE.into());
    let open = from_fn_with_state(state.clone(), open_payments);
    page::routes(state.config.shop.clone(), assets.clone())
        .layer(open)
        .merge(orders::pages::routes(state.clone(), assets.clone()))
        .merge(docs::routes(
            "Balcão checkout",
            document(),
            DOCUMENTS,
            assets,
        ))
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
