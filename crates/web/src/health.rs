//! Liveness and readiness. Never rate limited.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::routing::get;
use axum::{Json, Router};
use http::StatusCode;
use serde::Serialize;
use tokio::time::timeout;

use crate::errors::Chain;
use crate::server::Shutdown;
use crate::{Error, Supervisor};

/// Why a service is not ready; goes to the log.
pub type NotReady = Box<dyn std::error::Error + Send + Sync>;

type Check =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), NotReady>> + Send>> + Send + Sync>;

/// What callers are told, and the cause for the log.
type Obstacle = (Cow<'static, str>, Option<NotReady>);

/// A check that takes longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Serialize)]
struct Health {
    status: &'static str,
    service: &'static str,
    version: &'static str,
}

/// `GET /health`: `{"status":"healthy","service","version"}` as long as the process lives (the shape of the checkout specification);
/// `GET /ready`: the same with `ready` while `check` passes, every worker runs and no shutdown is announced, else 503, which is logged
/// when it begins and ends.
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
    let readiness = Arc::new(Readiness {
        service,
        workers,
        check: Box::new(move || Box::pin(check())),
        last: Mutex::default(),
    });
    let answer = move |status| {
        Json(Health {
            status,
            service,
            version,
        })
    };
    let ready = move |shutdown: Shutdown| {
        let readiness = Arc::clone(&readiness);
        async move {
            let answered = readiness.answer(&shutdown).await;
            answered.map(|()| answer("ready"))
        }
    };
    Router::new()
        .route("/health", get(move || async move { answer("healthy") }))
        .route("/ready", get(ready))
}

/// What decides whether a service is ready, and what the last probe heard.
struct Readiness {
    service: &'static str,
    workers: Supervisor,
    check: Check,
    last: Mutex<Option<Cow<'static, str>>>,
}

impl Readiness {
    async fn answer(&self, shutdown: &Shutdown) -> Result<(), Error> {
        let (why, cause) = match self.obstacle(shutdown).await {
            Ok(()) => (None, None),
            Err((why, cause)) => (Some(why), cause),
        };
        self.log_change(why.as_ref(), cause.as_deref());
        let Some(why) = why else {
            return Ok(());
        };
        // Probes come every second: the log has it once, and it is no fault that a probe hears the truth.
        let error = Error::new(StatusCode::SERVICE_UNAVAILABLE, why).expected();
        Err(match cause {
            Some(cause) => error.cause(cause),
            None => error,
        })
    }

    /// Why the service is not ready: for the caller, and for the log.
    async fn obstacle(&self, shutdown: &Shutdown) -> Result<(), Obstacle> {
        if shutdown.is_announced() {
            return Err(("Service unavailable: the service is stopping".into(), None));
        }
        if let Some(worker) = self.workers.missing().first() {
            let why = format!("Service unavailable: the worker {worker} is down");
            return Err((why.into(), None));
        }
        let outcome = timeout(PATIENCE, (self.check)()).await;
        let outcome = outcome.unwrap_or_else(|elapsed| Err(elapsed.into()));
        outcome.map_err(|cause| ("Service unavailable".into(), Some(cause)))
    }

    fn log_change(
        &self,
        why: Option<&Cow<'static, str>>,
        cause: Option<&(dyn StdError + Send + Sync)>,
    ) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref() == why {
            return;
        }
        *last = why.cloned();
        let service = self.service;
        if let Some(why) = why {
            let cause = Chain(cause);
            tracing::warn!(service, %why, %cause, "not ready");
        } else {
            tracing::info!(service, "ready again");
        }
    }
}
