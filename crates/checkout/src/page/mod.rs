//! The checkout page: its form, the texts its script needs, and the files it loads.
//!
//! The page posts to `/create_payment`, or to the address of its order, and follows
//! `/payments/{id}/status` like any client. Implements "GET /" of the specification. The page's
//! behaviour is in `assets/checkout.js`, its texts in `templates/checkout/`.

mod closed;
mod linked;
mod order;
mod pages;
mod reasons;
mod texts;

use std::time::Duration;

use axum::Router;
use axum::extract::FromRef;
use axum::middleware::{from_fn, from_fn_with_state};
use rust_embed::RustEmbed;
use tower::ServiceBuilder;
use utoipa::openapi::OpenApi;
use web::assets::Assets;
use web::security::{self, Policy};
use web::{limits, locale};

use self::closed::merchants_only;
use crate::BODY_MAX;
use crate::access::Gate;
use crate::state::State;

pub use crate::shop::{Logo, LogoError, Shop};

/// The page's own style sheet and script.
#[derive(RustEmbed)]
#[folder = "assets/"]
pub struct Files;

/// The timeout of a page or a form, including the transfer.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The description of the pages' routes.
pub(crate) fn openapi() -> OpenApi {
    let mut pages = pages::ROUTES.openapi();
    pages.merge(linked::ROUTES.openapi());
    pages
}

/// Adds the shop's logo to the common assets.
pub(crate) fn assets(shop: &Shop, assets: Assets) -> Assets {
    match &shop.logo {
        Some(logo) => assets.with_picture(logo.name(), logo.content().to_vec()),
        None => assets,
    }
}

/// What the pages' handlers and middleware need.
#[derive(Clone)]
struct PageState {
    state: State,
    assets: Assets,
}

impl FromRef<PageState> for Assets {
    fn from_ref(page: &PageState) -> Self {
        page.assets.clone()
    }
}

/// The open form, the pages of orders, and the forms that switch language and colours, with the
/// middleware of pages. If the shop accepts only orders, the open form is for merchants' keys.
pub(crate) fn routes(state: &State, assets: &Assets) -> Router {
    let page = PageState {
        state: state.clone(),
        assets: assets.clone(),
    };
    let mut form = pages::ROUTES.router();
    if !state.config.open_payments {
        form = form
            .layer(from_fn_with_state(page.clone(), merchants_only))
            .layer(from_fn_with_state(
                Gate::new(state, |error| error),
                Gate::identify,
            ));
    }
    form.merge(linked::ROUTES.router())
        .with_state(page)
        .merge(locale::routes())
        .layer(
            ServiceBuilder::new()
                .layer(from_fn_with_state(Policy::Pages, security::headers))
                .layer(from_fn_with_state(PAGE_TIMEOUT, limits::timeout))
                .layer(from_fn_with_state(BODY_MAX, limits::body))
                .layer(from_fn(locale::remember)),
        )
}
