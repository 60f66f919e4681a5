//! One step around a router: an async function as a layer with a name, so that steps can be stored, returned and put on any router.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::Response;
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceExt};

type Answer = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A layer made of one async function from a request and what comes [`Next`] to a response.
#[derive(Clone)]
pub struct Step(Arc<dyn Fn(Request, Next) -> Answer + Send + Sync>);

impl Step {
    /// Makes a step of an async function or closure.
    pub fn new<F, A>(function: F) -> Self
    where
        F: Fn(Request, Next) -> A + Send + Sync + 'static,
        A: Future<Output = Response> + Send + 'static,
    {
        Self(Arc::new(move |request, next| {
            Box::pin(function(request, next))
        }))
    }
}

/// What follows after a step: further steps, and at last the handler.
pub struct Next(BoxCloneSyncService<Request, Response, Infallible>);

impl Next {
    /// Hands the request on.
    pub async fn run(self, request: Request) -> Response {
        let Ok(response) = self.0.oneshot(request).await;
        response
    }
}

impl<S> Layer<S> for Step
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    type Service = Stepped;

    fn layer(&self, inner: S) -> Stepped {
        Stepped {
            step: self.clone(),
            inner: BoxCloneSyncService::new(inner),
        }
    }
}

/// A service with a step before it.
#[derive(Clone)]
pub struct Stepped {
    step: Step,
    inner: BoxCloneSyncService<Request, Response, Infallible>,
}

impl Service<Request> for Stepped {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // `Next::run` waits for the inner service itself.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let answer = (self.step.0)(request, Next(self.inner.clone()));
        Box::pin(async move { Ok(answer.await) })
    }
}
