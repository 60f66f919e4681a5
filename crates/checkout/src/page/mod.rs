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

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use rust_embed::RustEmbed;
use tower::ServiceBuilder;
use utoipa::openapi::OpenApi;
use web::assets::Assets;
use web::security::{self, Policy};
use web::{limits, locale};

use self::closed::{ClosedState, merchants_only};
use crate::BODY_MAX;
use crate::keys::ApiKeys;

pub(crate) use linked::{PageToken, routes as order_routes};

pub use crate::shop::{Logo, LogoError, Shop};

/// The page's own style sheet and script.
#[derive(RustEmbed)]
#[folder = "assets/"]
pub struct Files;

/// The timeout of a page or a form, including the transfer.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The description of the pages' routes.
pub(crate) fn openapi() -> OpenApi {
    let mut pages = pages::openapi();
    pages.merge(linked::openapi());
    pages
}

/// Adds the shop's logo to the common assets.
pub(crate) fn assets(shop: &Shop, assets: Assets) -> Assets {
    match &shop.logo {
        Some(logo) => assets.with_picture(logo.name(), logo.content().to_vec()),
        None => assets,
    }
}

/// `GET /` and the forms that switch language and colours, with the middleware of pages. `assets`
/// must contain [`Files`] and the shared files.
pub fn routes<S: Clone + Send + Sync + 'static>(shop: Shop, assets: Assets) -> Router<S> {
    around(pages::routes(Arc::new(shop), assets).merge(locale::routes()))
}

/// Same as [`routes`] for a shop that accepts only orders: the form is for merchants' keys.
pub(crate) fn closed_routes<S: Clone + Send + Sync + 'static>(
    shop: Shop,
    assets: Assets,
    keys: ApiKeys,
) -> Router<S> {
    let shop = Arc::new(shop);
    let form = pages::routes(Arc::clone(&shop), assets.clone());
    let closed = ClosedState { shop, assets, keys };
    let form = form.layer(from_fn_with_state(closed, merchants_only));
    around(form.merge(locale::routes()))
}

/// Adds the middleware of pages to these routes.
fn around<S: Clone + Send + Sync + 'static>(pages: Router<S>) -> Router<S> {
    pages.layer(
        ServiceBuilder::new()
            .layer(from_fn_with_state(Policy::Pages, security::headers))
            .layer(from_fn_with_state(PAGE_TIMEOUT, limits::timeout))
            .layer(from_fn_with_state(BODY_MAX, limits::body))
            .layer(from_fn(locale::remember)),
    )
}
