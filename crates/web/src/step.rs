//! One step around a router: an async function as a layer with a name, so that steps can be stored, returned, joined and put on any router.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use tower::{Layer, Service};

type Answer = Pin<Box<dyn Future<Output = Response> + Send>>;
type Function = Arc<dyn Fn(Request, Next) -> Answer + Send + Sync>;

/// A layer made of one async function from a request and what comes [`Next`] to a response, or of several such functions in their order.
#[derive(Clone)]
pub struct Step(Vec<Function>);

impl Step {
    /// Makes a step of an async function or closure.
    pub fn new<F, A>(function: F) -> Self
    where
        F: Fn(Request, Next) -> A + Send + Sync + 'static,
        A: Future<Output = Response> + Send + 'static,
    {
        let function: Function = Arc::new(move |request, next| Box::pin(function(request, next)));
        Self(vec![function])
    }

    /// This step and, within it, another. As one layer they cost a request less than as two: what is between two layers of a router
    /// is made anew for each request.
    #[must_use]
    pub fn then(mut self, inner: Self) -> Self {
        self.0.extend(inner.0);
        self
    }
}

/// What follows after a step: further steps, and at last the handler.
pub struct Next {
    steps: Arc<[Function]>,
    /// How many of the steps have begun.
    begun: usize,
    last: Arc<dyn Follow>,
}

impl Next {
    /// Hands the request on.
    pub async fn run(mut self, request: Request) -> Response {
        match self.steps.get(self.begun).cloned() {
            Some(step) => {
                self.begun += 1;
                step(request, self).await
            }
            None => self.last.answer(request).await,
        }
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
        let mut service = self.clone();
        Box::pin(async move {
            let Ok(()) = std::future::poll_fn(|context| service.poll_ready(context)).await;
            let Ok(response) = service.call(request).await;
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
            steps: self.0.as_slice().into(),
            inner: Arc::new(inner),
        }
    }
}

/// A service with steps before it, or with none.
#[derive(Clone)]
pub struct Stepped {
    steps: Arc<[Function]>,
    inner: Arc<dyn Follow>,
}

impl Stepped {
    /// Answers a request.
    pub async fn answer(&self, request: Request) -> Response {
        self.next().run(request).await
    }

    fn next(&self) -> Next {
        Next {
            steps: Arc::clone(&self.steps),
            begun: 0,
            last: Arc::clone(&self.inner),
        }
    }
}

impl From<Router> for Stepped {
    fn from(router: Router) -> Self {
        Step(Vec::new()).layer(router)
    }
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
        Stepping(Box::pin(self.next().run(request)))
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

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use http::{HeaderName, HeaderValue};
    use tower::ServiceExt;

    use super::*;

    const TRACE: HeaderName = HeaderName::from_static("x-trace");

    /// Leaves a word with the request on its way in, and with the response on its way out.
    fn tracing(word: &'static str) -> Step {
        Step::new(move |mut request: Request, next: Next| async move {
            let value = HeaderValue::from_static(word);
            request.headers_mut().append(TRACE, value.clone());
            let mut response = next.run(request).await;
            response.headers_mut().append(TRACE, value);
            response
        })
    }

    fn words(headers: &http::HeaderMap) -> String {
        let words: Vec<_> = headers
            .get_all(TRACE)
            .iter()
            .map(|word| word.to_str().unwrap())
            .collect();
        words.join(" ")
    }

    #[tokio::test]
    async fn joined_steps_are_taken_from_outside_in_and_back() {
        let handler = async |request: Request| words(request.headers());
        let steps = tracing("one").then(tracing("two").then(tracing("three")));
        let router = Router::new().route("/", get(handler)).layer(steps);
        let request = Request::new(axum::body::Body::empty());
        let Ok(response) = router.oneshot(request).await;
        assert_eq!(words(response.headers()), "three two one");
        let body = axum::body::to_bytes(response.into_body(), 100)
            .await
            .unwrap();
        assert_eq!(body, "one two three");
    }
}
