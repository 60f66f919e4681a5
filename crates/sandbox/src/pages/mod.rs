//! The sandbox's pages: all payments, one payment with buttons for its payer and bank, the pix
//! ticket, the boleto.
//!
//! Pages read the store and render; their buttons post to `control`. Every page says that this is a
//! sandbox. No page needs a script.

mod artefacts;
mod errors;
mod list;
mod payment;
mod words;

use axum::Router;
use axum::extract::FromRef;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use rust_embed::RustEmbed;
use tower::ServiceBuilder;
use web::assets::Assets;
use web::errors::{Renderer, render};
use web::locale;
use web::security::{self, Policy};

pub(crate) use errors::ErrorPages;

use crate::state::State;

#[derive(RustEmbed)]
#[folder = "assets/"]
struct Files;

/// The files that the pages load.
pub(crate) fn assets() -> Assets {
    Assets::shared().with::<Files>()
}

impl FromRef<State> for Assets {
    fn from_ref(state: &State) -> Self {
        state.assets.clone()
    }
}

pub(crate) fn routes(assets: &Assets) -> Router<State> {
    Router::new()
        .route("/", get(list::show))
        .route("/sandbox/payments/{id}", get(payment::show))
        .route("/sandbox/payments/{id}/ticket", get(artefacts::ticket))
        .route("/sandbox/payments/{id}/boleto", get(artefacts::boleto))
        .merge(locale::routes())
        .layer(
            ServiceBuilder::new()
                .layer(from_fn_with_state(Policy::Pages, security::headers))
                .layer(from_fn_with_state(
                    Renderer::new(ErrorPages::new(assets.clone())),
                    render,
                ))
                .layer(from_fn(locale::remember)),
        )
        .merge(assets.routes())
}
