//! A bare HTTP handler for comparison. It responds with constants of the same sizes as the
//! service's responses.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use clap::Args;

/// The sizes of the constants, in bytes.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Bare {
    /// Of the answer to `/list`
    #[arg(long)]
    list: usize,
    /// Of the answer to `/one`
    #[arg(long)]
    one: usize,
}

/// The handler.
pub(crate) fn bare(sizes: Bare) -> Router {
    Router::new()
        .route("/list", constant(sizes.list))
        .route("/one", constant(sizes.one))
}

/// A JSON string of `size` bytes, including its quotes.
fn constant(size: usize) -> axum::routing::MethodRouter {
    let text: &'static str = format!("\"{}\"", "x".repeat(size.saturating_sub(2))).leak();
    get(async move || ([(CONTENT_TYPE, "application/json")], text))
}
