//! The layer around every call of the provider's interface: the sandbox's header, the record of the call, keys in flight, faults.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State as Shared};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, header};

use super::faults::{Cleared, Fault, Kind};
use crate::caller;
use crate::refusal::Refusal;
use crate::state::{State, lock};

const LARGEST_BODY: usize = 1024 * 1024;

/// How a connection ends in place of an answer; the server finds it in the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    Closed,
    Reset,
}

/// Travels with a request whose answer leaves out what is younger than this.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lag(pub(crate) Duration);

/// Path and key of the requests that are being worked on.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<HashSet<(Box<str>, Box<str>)>>);

/// Gives a key back when its request is done, or given up.
struct Claim {
    state: State,
    name: (Box<str>, Box<str>),
}

impl Claim {
    /// `Err` when the key is in flight; `None` when the request needs no claim.
    fn of(state: &State, parts: &Parts) -> Result<Option<Self>, Refusal> {
        let key = caller::key(&parts.headers).filter(|_| parts.method == Method::POST);
        let Some(key) = key else { return Ok(None) };
        let name: (Box<str>, Box<str>) = (parts.uri.path().into(), key.into());
        if lock(&state.in_flight.0).insert(name.clone()) {
            return Ok(Some(Self {
                state: state.clone(),
                name,
            }));
        }
        let message = "Already posted the same request, which is still in flight";
        Err(Refusal::new(StatusCode::LOCKED, None, message))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        lock(&self.state.in_flight.0).remove(&self.name);
    }
}

/// The layer.
pub(crate) async fn around(Shared(state): Shared<State>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, LARGEST_BODY).await else {
        let message = "Request body is too large or was cut off";
        return Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, None, message).into_response();
    };
    let claim = match Claim::of(&state, &parts) {
        Ok(claim) => claim,
        Err(refusal) => {
            state.calls.record(&parts, &body);
            return refusal.into_response();
        }
    };
    let fault = state.faults.take(&parts.method, parts.uri.path());
    // Whoever sees the call may rely on it that its fault has begun.
    state.calls.record(&parts, &body);
    let request = Request::from_parts(parts, Body::from(body));
    match fault {
        None => {
            let response = next.run(request).await;
            drop(claim);
            response
        }
        Some((fault, cleared)) => suffer(fault, cleared, request, next, claim).await,
    }
}

/// Answers as the fault wants it.
async fn suffer(
    fault: Fault,
    cleared: Cleared,
    mut request: Request,
    next: Next,
    claim: Option<Claim>,
) -> Response {
    if let Kind::Lag(duration) = fault.kind {
        request.extensions_mut().insert(Lag(duration));
        return next.run(request).await;
    }
    if let Kind::Stall(duration) = fault.kind {
        return stall(cleared.or_after(duration), request, next, claim).await;
    }
    let response = if fault.is_carried_out {
        Some(next.run(request).await)
    } else {
        None
    };
    drop(claim);
    match (fault.kind, response) {
        (Kind::Status(status, None), _) => Refusal::of_status(status).into_response(),
        (Kind::Status(status, Some(code)), _) => Refusal::of_code(status, code).into_response(),
        (Kind::Reset, _) => broken(Broken::Reset),
        (Kind::Garbage, _) => (
            StatusCode::OK,
            Bytes::from_static(b"<html>\xff\x00 not JSON {{"),
        )
            .into_response(),
        (Kind::Truncate, Some(response)) => truncate(response).await,
        (Kind::Delay(duration), Some(response)) => {
            cleared.or_after(duration).await;
            response
        }
        (Kind::Drop | Kind::Truncate | Kind::Delay(_) | Kind::Stall(_) | Kind::Lag(_), _) => {
            broken(Broken::Closed)
        }
    }
}

/// In a task of its own, so that the work is done though the caller goes away.
async fn stall(
    over: impl Future<Output = ()> + Send + 'static,
    request: Request,
    next: Next,
    claim: Option<Claim>,
) -> Response {
    let work = tokio::spawn(async move {
        over.await;
        let response = next.run(request).await;
        drop(claim);
        response
    });
    work.await.unwrap_or_else(|_| broken(Broken::Closed))
}

/// A response that the sandbox's own server never sends: it ends the connection instead. Behind another server its body breaks at once.
fn broken(how: Broken) -> Response {
    let mut response = Response::new(failing_body(Bytes::new()));
    response.extensions_mut().insert(how);
    response
}

/// Announces the whole answer and sends half of it.
async fn truncate(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, LARGEST_BODY).await.unwrap_or_default();
    parts
        .headers
        .insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    let half = body.slice(..body.len() / 2);
    Response::from_parts(parts, failing_body(half))
}

/// What is there, and a moment later, when that has gone out, the end of everything.
fn failing_body(start: Bytes) -> Body {
    let (parts, body) = tokio::sync::mpsc::channel(1);
    tokio::spawn(async move {
        if parts.send(Ok(start)).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let error = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
            // Nobody reads on when the client has gone.
            let _ = parts.send(Err(error)).await;
        }
    });
    Body::from_stream(tokio_stream::wrappers::ReceiverStream::new(body))
}
