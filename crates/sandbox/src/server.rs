//! The sandbox's own HTTP server. Unlike others, it can close or reset a connection for a fault.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt as _;

use crate::calls::BrokenConnection;

/// Accepts connections until `shutdown` completes, then lets running requests finish.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
) {
    let (stopped, stop) = watch::channel(());
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        match accepted {
            Ok((stream, _)) => {
                tokio::spawn(connection(stream, router.clone(), stop.clone()));
            }
            Err(error) => {
                // Most likely the process is out of file descriptors. A short wait lets some
                // connections end.
                tracing::warn!(%error, "sandbox: accepting a connection failed, retrying");
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    drop(stop);
    stopped.send_replace(());
    stopped.closed().await;
}

/// Ends the connection: hyper drops it when a service returns an error.
#[derive(Debug, thiserror::Error)]
#[error("a fault was asked for")]
struct InjectedFault(BrokenConnection);

async fn connection(stream: TcpStream, router: Router, mut stop: watch::Receiver<()>) {
    // Responses are small, so they are sent without delay.
    let _ = stream.set_nodelay(true);
    let service = tower::service_fn(move |request: Request<Incoming>| {
        let response = router.clone().oneshot(request.map(Body::new));
        async move { response_or_fault(response.await) }
    });
    let service = TowerToHyperService::new(service);
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let mut is_stopping = false;
    let ended = loop {
        tokio::select! {
            ended = std::pin::Pin::new(&mut connection) => break ended,
            _ = stop.changed(), if !is_stopping => {
                is_stopping = true;
                std::pin::Pin::new(&mut connection).graceful_shutdown();
            }
        }
    };
    if let Err(error) = ended
        && is_reset(&error)
    {
        let stream = connection.into_parts().io.into_inner();
        // Closing a socket with a linger time of zero sends a TCP reset.
        let _ = stream.set_zero_linger();
    }
}

fn response_or_fault(response: Result<Response, Infallible>) -> Result<Response, InjectedFault> {
    let Ok(response) = response;
    match response.extensions().get::<BrokenConnection>() {
        Some(broken) => Err(InjectedFault(*broken)),
        None => Ok(response),
    }
}

fn is_reset(error: &hyper::Error) -> bool {
    let cause =
        std::error::Error::source(error).and_then(|source| source.downcast_ref::<InjectedFault>());
    cause.is_some_and(|InjectedFault(broken)| *broken == BrokenConnection::Reset)
}

/// Binds an address. Port 0 selects a free port.
pub(crate) async fn bind(address: &str) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}
