//! The middleware around every call of the provider's API: the sandbox's header, the record of the
//! call, keys in flight, faults.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State as Shared};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};

use crate::calls::{BrokenConnection, ClearSignal, Fault, FaultKind, KeyClaim, Lag};
use crate::refusal::Refusal;
use crate::state::State;

const BODY_MAX: usize = 1024 * 1024;

/// The middleware.
pub(crate) async fn intercept(
    Shared(state): Shared<State>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_MAX).await else {
        let message = "Request body is too large or was cut off";
        return Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, None, message).into_response();
    };
    let claim = match KeyClaim::of(&state.in_flight, &parts) {
        Ok(claim) => claim,
        Err(refusal) => {
            state.calls.record(&parts, &body);
            return refusal.into_response();
        }
    };
    let fault = state.faults.take(&parts.method, parts.uri.path());
    // The call is recorded after its fault has begun, so that tests can rely on this order.
    state.calls.record(&parts, &body);
    let request = Request::from_parts(parts, Body::from(body));
    match fault {
        None => {
            let response = next.run(request).await;
            drop(claim);
            response
        }
        Some((fault, cleared)) => apply(fault, cleared, request, next, claim).await,
    }
}

/// Responds as the fault demands.
async fn apply(
    fault: Fault,
    cleared: ClearSignal,
    mut request: Request,
    next: Next,
    claim: Option<KeyClaim>,
) -> Response {
    if let FaultKind::Lag(duration) = fault.kind {
        request.extensions_mut().insert(Lag(duration));
        return next.run(request).await;
    }
    if let FaultKind::Stall(duration) = fault.kind {
        return stall(cleared.or_after(duration), request, next, claim).await;
    }
    let response = if fault.is_carried_out {
        Some(next.run(request).await)
    } else {
        None
    };
    drop(claim);
    match (fault.kind, response) {
        (FaultKind::Status(status, None), _) => Refusal::of_status(status).into_response(),
        (FaultKind::Status(status, Some(code)), _) => {
            Refusal::of_code(status, code).into_response()
        }
        (FaultKind::Reset, _) => broken(BrokenConnection::Reset),
        (FaultKind::Garbage, _) => (
            StatusCode::OK,
            Bytes::from_static(b"<html>\xff\x00 not JSON {{"),
        )
            .into_response(),
        (FaultKind::Truncate, Some(response)) => truncate(response).await,
        (FaultKind::Delay(duration), Some(response)) => {
            cleared.or_after(duration).await;
            response
        }
        (
            FaultKind::Drop
            | FaultKind::Truncate
            | FaultKind::Delay(_)
            | FaultKind::Stall(_)
            | FaultKind::Lag(_),
            _,
        ) => broken(BrokenConnection::Closed),
    }
}

/// Runs in a separate task, so that the call is processed even if the caller goes away.
async fn stall(
    over: impl Future<Output = ()> + Send + 'static,
    request: Request,
    next: Next,
    claim: Option<KeyClaim>,
) -> Response {
    let work = tokio::spawn(async move {
        over.await;
        let response = next.run(request).await;
        drop(claim);
        response
    });
    work.await
        .unwrap_or_else(|_| broken(BrokenConnection::Closed))
}

/// A response that makes the sandbox's own server end the connection instead of sending it. With
/// another server its body fails at once.
fn broken(how: BrokenConnection) -> Response {
    let mut response = Response::new(failing_body(Bytes::new()));
    response.extensions_mut().insert(how);
    response
}

/// Announces the full length and sends half of the body.
async fn truncate(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, BODY_MAX).await.unwrap_or_default();
    parts
        .headers
        .insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    let half = body.slice(..body.len() / 2);
    Response::from_parts(parts, failing_body(half))
}

/// A body that sends `start`, and fails a moment later, after that was written to the connection.
fn failing_body(start: Bytes) -> Body {
    let (parts, body) = tokio::sync::mpsc::channel(1);
    tokio::spawn(async move {
        if parts.send(Ok(start)).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let error = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
            // The receiver is gone when the client has disconnected.
            let _ = parts.send(Err(error)).await;
        }
    });
    Body::from_stream(tokio_stream::wrappers::ReceiverStream::new(body))
}
