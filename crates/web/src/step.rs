//! One step around a router: an async function as a layer with a name, so that steps can be stored, returned and put on any router.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::Response;
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
pub struct Next(Arc<dyn Follow>);

impl Next {
    /// Hands the request on.
    pub async fn run(self, request: Request) -> Response {
        self.0.answer(request).await
    }
}

/// A service behind a step. All requests share it, so that a router with many steps costs a request nothing to get at.
trait Follow: Send + Sync {
    fn answer(&self, request: Request) -> Answer;
}

impl<S> Follow for S
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    fn answer(&self, request: Request) -> Answer {
        let service = self.clone();
        Box::pin(async move {
            let Ok(response) = service.oneshot(request).await;
            response
        })
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
            inner: Arc::new(inner),
        }
    }
}

/// A service with a step before it.
#[derive(Clone)]
pub struct Stepped {
    step: Step,
    inner: Arc<dyn Follow>,
}

impl Service<Request> for Stepped {
    type Response = Response;
    type Error = Infallible;
    type Future = Stepping;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // `Next::run` waits for the inner service itself.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Stepping {
        Stepping((self.step.0)(request, Next(Arc::clone(&self.inner))))
    }
}

/// The answer of a step, which is never an error.
pub struct Stepping(Answer);

impl Future for Stepping {
    type Output = Result<Response, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context).map(Ok)
    }
}
