//! Liveness and readiness. Never rate limited.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::{Json, Router};
use db::lock_mutex;
use http::StatusCode;
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;
use utoipa::openapi::{Object, OpenApi, RefOr};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::errors::Chain;
use crate::openapi::{Failure, Routes, constant, operations};
use crate::server::Shutdown;
use crate::{Error, Supervisor};

/// Why a service is not ready; goes to the log.
pub type NotReady = Box<dyn std::error::Error + Send + Sync>;

type Check =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), NotReady>> + Send>> + Send + Sync>;

/// The text for callers, and the cause for the log.
type Obstacle = (Cow<'static, str>, Option<NotReady>);

/// A check that takes longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(5);

/// The service whose state this is, and the result of the last probe.
struct Probe {
    service: &'static str,
    version: &'static str,
    workers: Supervisor,
    check: Check,
    last: Mutex<Option<Cow<'static, str>>>,
}

/// The state of the routes.
type ProbeState = Arc<Probe>;

/// The service is alive.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Health {
    #[schema(schema_with = healthy)]
    status: &'static str,
    service: &'static str,
    version: &'static str,
}

/// The service is ready.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Ready {
    #[schema(schema_with = is_ready)]
    status: &'static str,
    service: &'static str,
    version: &'static str,
}

fn healthy() -> Object {
    constant("healthy")
}

fn is_ready() -> Object {
    constant("ready")
}

/// `GET /health`: `{"status":"healthy","service","version"}` as long as the process lives (the shape
/// of the checkout specification); `GET /ready`: the same with `ready` while `check` passes, every
/// worker runs and no shutdown is announced, else 503, which is logged when it begins and ends.
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
    let probe = Probe {
        service,
        version,
        workers,
        check: Box::new(move || Box::pin(check())),
        last: Mutex::default(),
    };
    ROUTES.router().with_state(Arc::new(probe))
}

/// The description of the routes of a service.
pub fn openapi(service: &str) -> OpenApi {
    let mut api = ROUTES.openapi();
    for (_, _, operation) in operations(&mut api) {
        let responses = operation.responses.responses.values_mut();
        let contents = responses.filter_map(|response| match response {
            RefOr::T(response) => Some(response.content.values_mut()),
            RefOr::Ref(_) => None,
        });
        for example in contents.flatten().flat_map(|content| &mut content.example) {
            if let Some(name) = example.get_mut("service") {
                *name = service.into();
            }
        }
    }
    api
}

static ROUTES: Routes<ProbeState> = Routes::new(|| {
    OpenApiRouter::new()
        .routes(routes!(health))
        .routes(routes!(ready))
});

/// Liveness
#[utoipa::path(
    get,
    path = "/health",
    tag = "Operation",
    security(),
    responses((
        status = 200,
        description = "The process is alive.",
        body = Health,
        example = json!({"status": "healthy", "service": "", "version": "1.0.0"}),
    )),
)]
async fn health(State(probe): State<ProbeState>) -> Json<Health> {
    Json(Health {
        status: "healthy",
        service: probe.service,
        version: probe.version,
    })
}

/// Readiness
#[utoipa::path(
    get,
    path = "/ready",
    tag = "Operation",
    security(),
    responses(
        (
            status = 200,
            description = "The database can be reached and is migrated.",
            body = Ready,
            example = json!({"status": "ready", "service": "", "version": "1.0.0"}),
        ),
        Failure<503>,
    ),
)]
async fn ready(State(probe): State<ProbeState>, shutdown: Shutdown) -> Result<Json<Ready>, Error> {
    probe.check_ready(&shutdown).await?;
    Ok(Json(Ready {
        status: "ready",
        service: probe.service,
        version: probe.version,
    }))
}

impl Probe {
    async fn check_ready(&self, shutdown: &Shutdown) -> Result<(), Error> {
        let (why, cause) = match self.obstacle(shutdown).await {
            Ok(()) => (None, None),
            Err((why, cause)) => (Some(why), cause),
        };
        self.log_change(why.as_ref(), cause.as_deref());
        let Some(why) = why else {
            return Ok(());
        };
        // Probes come every second. So only a change is logged, and the 503 does not count as a
        // fault.
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
        let mut last = lock_mutex(&self.last);
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
