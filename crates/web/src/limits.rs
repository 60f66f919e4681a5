//! Limits on single requests, as middleware: the size of head and body, and the time an answer may
//! take. Those on connections are [`crate::server::Limits`].

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::Limited;
use tracing::Instrument;

use crate::Error;

/// The most bytes of path and query.
const MAX_URI: usize = 8 * 1024;
/// The most header lines.
const MAX_HEADERS: usize = 80;
/// The most bytes of all header names and values.
const MAX_HEADER_BYTES: usize = 32 * 1024;

/// Marks requests of HTTP/1.1 without exactly one `Host`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MissingHost;

/// Checks the head of a request.
///
/// # Errors
/// 400 without exactly one host, 414 and 431 when it is too large.
pub(crate) fn check_head(request: &Request) -> Result<(), Error> {
    if request.extensions().get::<MissingHost>().is_some() {
        return Err(closing(Error::new(StatusCode::BAD_REQUEST, "Bad Request")));
    }
    let uri = request
        .uri()
        .path_and_query()
        .map_or(0, |path| path.as_str().len());
    if uri > MAX_URI {
        return Err(closing(Error::new(
            StatusCode::URI_TOO_LONG,
            "URI Too Long",
        )));
    }
    if request.headers().len() > MAX_HEADERS || header_bytes(request.headers()) > MAX_HEADER_BYTES {
        return Err(closing(Error::new(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "Request Header Fields Too Large",
        )));
    }
    Ok(())
}

fn header_bytes(headers: &HeaderMap) -> usize {
    headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum()
}

/// Closes the connection after the response, so that the rest of the request is not read.
fn closing(error: Error) -> Error {
    error.header(CONNECTION, HeaderValue::from_static("close"))
}

/// Middleware: answers 413 to bodies of more bytes than the state says, at once when they are
/// declared.
pub async fn body(State(bytes): State<usize>, request: Request, next: Next) -> Response {
    let declared = request
        .headers()
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if declared
        .is_some_and(|declared| usize::try_from(declared).is_ok_and(|declared| declared > bytes))
    {
        let error = Error::new(StatusCode::PAYLOAD_TOO_LARGE, "Payload Too Large");
        return closing(error).into_response();
    }
    next.run(with_bounded_body(bytes, request)).await
}

/// The request, with a body that fails as soon as more bytes have arrived.
pub fn with_bounded_body(bytes: usize, mut request: Request) -> Request {
    if request.body().is_end_stream() {
        return request;
    }
    // Otherwise the framework's own limit of 2 MB would apply.
    DefaultBodyLimit::disable().apply(&mut request);
    request.map(|body| Body::new(Limited::new(body, bytes)))
}

/// Middleware: [`within`] the time that the state says.
pub async fn timeout(State(time): State<Duration>, request: Request, next: Next) -> Response {
    within(time, |error| error, request, |request| next.run(request)).await
}

/// Adds to the 503 of a request that took too long.
pub type OnTimeout = fn(Error) -> Error;

/// As [`timeout`], for work that may go on and have an effect after its answer.
pub async fn timeout_with(
    State((time, on_timeout)): State<(Duration, OnTimeout)>,
    request: Request,
    next: Next,
) -> Response {
    within(time, on_timeout, request, |request| next.run(request)).await
}

/// Ends a request whose response does not begin in time: 408 when the handler still waits for the
/// client's body, else 503.
///
/// Streams are not ended: their response has begun.
pub async fn within<F: Future<Output = Response>>(
    time: Duration,
    on_timeout: OnTimeout,
    request: Request,
    handle: impl FnOnce(Request) -> F,
) -> Response {
    let (request, is_awaited) = WatchedBody::watch(request);
    let elapsed = match tokio::time::timeout(time, handle(request)).await {
        Ok(response) => return response,
        Err(elapsed) => elapsed,
    };
    if is_awaited.is_some_and(|is_awaited| is_awaited.load(Ordering::SeqCst)) {
        closing(Error::new(StatusCode::REQUEST_TIMEOUT, "Request Timeout")).into_response()
    } else {
        let error = Error::new(StatusCode::SERVICE_UNAVAILABLE, "Service unavailable");
        on_timeout(error.cause(elapsed)).into_response()
    }
}

/// Lets the handler run to its end even if the client disconnects, for work that must not stop
/// half-way.
///
/// It must be outside of [`crate::errors::render`], which catches the handler's panics.
pub async fn to_the_end(request: Request, next: Next) -> Response {
    let work = tokio::spawn(next.run(request).in_current_span());
    work.await
        .unwrap_or_else(|error| Error::internal(error).into_response())
}

/// A request body that records whether its reader waits for more of it.
struct WatchedBody {
    body: Body,
    is_awaited: Arc<AtomicBool>,
}

impl WatchedBody {
    /// Watches the body of a request, unless it has none.
    fn watch(request: Request) -> (Request, Option<Arc<AtomicBool>>) {
        if request.body().is_end_stream() {
            return (request, None);
        }
        let is_awaited = Arc::new(AtomicBool::new(false));
        let watched = request.map(|body| {
            Body::new(Self {
                body,
                is_awaited: Arc::clone(&is_awaited),
            })
        });
        (watched, Some(is_awaited))
    }
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        self.is_awaited.store(frame.is_pending(), Ordering::SeqCst);
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
