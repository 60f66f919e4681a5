//! A bare HTTP handler to compare with: it answers constants of the same sizes as the service's answers.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use clap::Args;
use tokio::net::TcpListener;

use crate::command::Failure;
use crate::{console, run};

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

/// Serves until the process is ended.
///
/// # Errors
///
/// When no port can be had.
pub(crate) async fn serve_bare(sizes: Bare) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::of("the bare handler cannot be served", &error);
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
    run::announce("bare", listener.local_addr().map_err(failed)?, "http");
    let router = Router::new()
        .route("/list", constant(sizes.list))
        .route("/one", constant(sizes.one));
    console::say("ready");
    axum::serve(listener, router).await.map_err(failed)
}

/// A JSON string of so many bytes, its quotes included.
fn constant(size: usize) -> axum::routing::MethodRouter {
    let text: &'static str = format!("\"{}\"", "x".repeat(size.saturating_sub(2))).leak();
    get(async move || ([(CONTENT_TYPE, "application/json")], text))
}
