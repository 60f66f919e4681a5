//! The service's routes: their handlers and middleware.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use tower::ServiceBuilder;
use web::assets::Assets;
use web::errors::{self, ForReaders, Pages, Renderer, TimestampedErrors};
use web::limits::OnTimeout;
use web::rate::{Limiter, Period, Rate};
use web::{HttpStack, compression, docs, health, limits};

use crate::access::{self, Gate, https_only, merchants_only};
use crate::api::{MOVING_MONEY, OF_CLIENTS, OF_THE_PROVIDER, OPEN_PAYMENTS};
use crate::attempts::patience;
use crate::errors::unknown_outcome;
use crate::openapi::{DOCUMENTS, openapi as document, operations};
use crate::state::State;
use crate::{MIGRATIONS, SERVICE, VERSION, page};

/// The rate limit of page requests of one client.
const PAGE_RATE: Rate = Rate::new(600, Period::Minute);

/// Statuses of provider failures. Their request counters start at 0, since alerts use them.
const PROVIDER_FAILED: [u16; 2] = [502, 503];

/// All routes of the service with the HTTP stack around them.
pub(crate) fn router(state: &State) -> Router {
    for (path, method) in operations() {
        for status in PROVIDER_FAILED {
            state
                .program_metrics
                .begin_requests(SERVICE, path, method, status);
        }
    }
    let assets = page::assets(&state.config.shop, assets());
    let errors = TimestampedErrors::new(state.clock.clone());
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
        metrics: state.program_metrics.clone(),
    };
    stack.around(router, ForReaders::new(Pages::new(assets), errors))
}

/// Built once per process: computing the digests takes most of the time of a start.
fn assets() -> Assets {
    static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
        Assets::shared()
            .with::<page::Files>()
            .with::<docs::Viewers>()
    });
    ASSETS.clone()
}

fn api(state: &State) -> Router {
    let limiter = Arc::new(Limiter::new(
        "checkout",
        state.windows.clone(),
        state.config.rate_limit.clone(),
    ));
    let patience = patience(state.config.provider.timeout);
    let https = || from_fn_with_state(state.config.allow_http, https_only);
    let common = |on_timeout: OnTimeout| {
        ServiceBuilder::new()
            .layer(from_fn_with_state(
                (patience, on_timeout),
                limits::timeout_with,
            ))
            // A payment is completed even if its buyer closes the connection.
            .layer(from_fn(limits::to_the_end))
    };
    let for_clients = |on_timeout| {
        let gate = Gate::new(state, on_timeout);
        ServiceBuilder::new()
            .layer(https())
            .layer(from_fn_with_state(gate, Gate::identify))
            .layer(from_fn_with_state(limiter.clone(), access::limit))
            .layer(common(on_timeout))
    };
    // The provider sends all its notifications from a few addresses, so a limit per client would
    // delay them. Refusing an invalid signature costs next to nothing, and unsigned notifications
    // have their own limit.
    let of_the_provider = ServiceBuilder::new()
        .layer(https())
        .layer(common(|error| error));
    let of_the_provider = OF_THE_PROVIDER.router().layer(of_the_provider);
    let mut open_payments = OPEN_PAYMENTS.router();
    if !state.config.open_payments {
        open_payments = open_payments.layer(from_fn(merchants_only));
    }
    open_payments
        .merge(MOVING_MONEY.router())
        .layer(for_clients(unknown_outcome))
        .merge(OF_CLIENTS.router().layer(for_clients(|error| error)))
        .merge(of_the_provider)
        .with_state(state.clone())
}

fn pages(state: &State, assets: &Assets) -> Router {
    let limiter = Limiter::new("checkout:pages", state.windows.clone(), PAGE_RATE.into());
    page::routes(state, assets)
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
