//! The sandbox's pages, for people who try things: all payments, one payment with what its payer or bank could do, the pix ticket, the boleto.
//!
//! They read the store and render; the buttons post to `control`. Every page says that this is a sandbox. Everything works without a script.

mod artefacts;
mod list;
mod payment;
mod words;

use axum::Router;
use axum::extract::FromRef;
use axum::routing::get;
use rust_embed::RustEmbed;
use web::assets::Assets;
use web::security::{self, Policy};
use web::{errors, locale};

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
        .layer(locale::remember())
        .layer(errors::layer(errors::Pages::new(assets.clone())))
        .layer(security::layer(Policy::Pages))
        .merge(assets.routes())
}
