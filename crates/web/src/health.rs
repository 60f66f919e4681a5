//! Liveness and readiness. Never rate limited.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::routing::get;
use axum::{Json, Router};
use http::StatusCode;
use serde::Serialize;

use crate::server::Shutdown;
use crate::{Error, Supervisor};

/// Why a service is not ready; goes to the log.
pub type NotReady = Box<dyn std::error::Error + Send + Sync>;

type Check =
    Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), NotReady>> + Send>> + Send + Sync>;

/// A check that takes longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Serialize)]
struct Health {
    status: &'static str,
    service: &'static str,
    version: &'static str,
}

/// `GET /health`: `{"status":"healthy","service","version"}` as long as the process lives (the shape of the checkout specification);
/// `GET /ready`: the same with `ready` while `check` passes, every worker runs and no shutdown is announced, else 503.
pub fn routes<S, C, A>(
    service: &'static str,
    version: &'static str,
    workers: Supervisor,
    check: C,
) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
    C: Fn() -> A + Send + Sync + 'static,
    A: Future<Output = Result<(), NotReady>> + Send + 'static,
{
    let check: Check = Arc::new(move || Box::pin(check()));
    let answer = move |status| {
        Json(Health {
            status,
            service,
            version,
        })
    };
    let ready = move |shutdown: Shutdown| {
        let (check, workers) = (Arc::clone(&check), workers.clone());
        async move {
            if shutdown.is_announced() {
                return Err(unavailable("the service is stopping"));
            }
            if let Some(worker) = workers.missing().first() {
                return Err(unavailable(&format!("the worker {worker} is down")));
            }
            tried(check()).await.map(|()| answer("ready"))
        }
    };
    Router::new()
        .route("/health", get(move || async move { answer("healthy") }))
        .route("/ready", get(ready))
}

fn unavailable(why: &str) -> Error {
    let detail = format!("Service unavailable: {why}");
    Error::new(StatusCode::SERVICE_UNAVAILABLE, detail)
}

async fn tried(check: impl Future<Output = Result<(), NotReady>>) -> Result<(), Error> {
    let outcome = tokio::time::timeout(PATIENCE, check)
        .await
        .unwrap_or_else(|elapsed| Err(elapsed.into()));
    outcome.map_err(|cause| {
        Error::new(StatusCode::SERVICE_UNAVAILABLE, "Service unavailable").cause(cause)
    })
}
