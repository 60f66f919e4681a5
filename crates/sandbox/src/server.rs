//! The sandbox's own HTTP server: unlike others, it can close or reset a connection for a fault.

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

/// Accepts connections until `shutdown` ends, then lets the requests that are under way finish.
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
                // Out of file descriptors, most likely: waiting a moment lets some connections end.
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

/// A fault ends the connection; hyper knows that as a service that failed.
#[derive(Debug, thiserror::Error)]
#[error("a fault was asked for")]
struct InjectedFault(BrokenConnection);

async fn connection(stream: TcpStream, router: Router, mut stop: watch::Receiver<()>) {
    // Answers are small and wanted at once.
    let _ = stream.set_nodelay(true);
    let service = tower::service_fn(move |request: Request<Incoming>| {
        let answered = router.clone().oneshot(request.map(Body::new));
        async move { broken_or_whole(answered.await) }
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
        // Closing with nothing lingering sends a reset instead of an orderly end.
        let _ = stream.set_zero_linger();
    }
}

fn broken_or_whole(answered: Result<Response, Infallible>) -> Result<Response, InjectedFault> {
    let Ok(response) = answered;
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

/// Binds an address, port 0 for a free one.
pub(crate) async fn bind(address: &str) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}
