//! One connection: the handshake, requests one after another, and the end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request};
use http::Version;
use http::header::{EXPECT, HOST};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tower::Service as _;

use super::deadline_stream::{DeadlineStream, RequestCount, RequestGuard};
use super::draining_body::DrainingBody;
use super::peers::PeerSlot;
use super::{Limits, Shutdown, Tls};
use crate::client::OwnTls;
use crate::limits::MissingHost;
use crate::security::is_event_stream;

/// Beyond these hyper answers by itself with a bare 431; the limits of [`crate::limits`] are lower
/// and answer with a body.
const MAX_HEAD_BYTES: usize = 64 * 1024;

pub(super) struct Connection {
    pub(super) router: Router,
    pub(super) tls: Option<Tls>,
    pub(super) limits: Limits,
    pub(super) shutdown: Shutdown,
    pub(super) peer: SocketAddr,
    pub(super) slot: PeerSlot,
}

impl Connection {
    pub(super) async fn serve(self, stream: TcpStream) {
        match &self.tls {
            None => self.answer(stream).await,
            Some(tls) => {
                let handshake =
                    tokio::time::timeout(self.limits.handshake, tls.acceptor().accept(stream));
                let outcome = tokio::select! {
                    outcome = handshake => outcome,
                    () = self.first_request_overdue() => return,
                    () = self.slot.closed() => return,
                };
                match outcome {
                    Ok(Ok(stream)) => self.answer(stream).await,
                    Ok(Err(error)) => {
                        tracing::debug!(%error, peer = %self.peer, "TLS handshake failed");
                    }
                    Err(_elapsed) => {
                        tracing::debug!(peer = %self.peer, "TLS handshake took too long");
                    }
                }
            }
        }
    }

    async fn answer<S: AsyncRead + AsyncWrite + Unpin>(&self, stream: S) {
        let requests = self.slot.requests.clone();
        let stream = TokioIo::new(DeadlineStream::new(stream, requests.clone(), self.limits));
        let service = service_fn(|request| self.handle(request, requests.clone()));
        let mut builder = http1::Builder::new();
        // hyper's own timer runs while a connection is idle, too; the deadline of the head is the
        // guard's.
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.idle + self.limits.head)
            .max_header_size(MAX_HEAD_BYTES);
        let mut connection = pin!(builder.serve_connection(stream, service));
        // hyper closes a connection that has brought nothing yet, though its first request may be
        // on the way.
        let closes = async {
            let no_request_is_lost = async {
                requests.first_request().await;
                self.shutdown.begun().await;
            };
            tokio::select! {
                () = no_request_is_lost => {}
                () = self.first_request_overdue() => {}
                () = self.slot.closed() => {}
            }
        };
        let outcome = tokio::select! {
            outcome = connection.as_mut() => outcome,
            () = closes => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, peer = %self.peer, "connection ended early");
        }
    }

    /// Waits until the shutdown has begun and the first request of a new connection would have
    /// come.
    async fn first_request_overdue(&self) {
        self.shutdown.begun().await;
        tokio::time::sleep(self.limits.first).await;
    }

    async fn handle(
        &self,
        request: hyper::Request<Incoming>,
        requests: RequestCount,
    ) -> Result<http::Response<BusyBody>, Infallible> {
        let busy = requests.begin();
        let is_hostless = request.version() == Version::HTTP_11
            && request.headers().get_all(HOST).iter().count() != 1;
        // A client that sends `Expect` waits for 100 before it sends the body.
        let comes_unasked = !request.headers().contains_key(EXPECT);
        let mut request: Request = request.map(|body| {
            if body.is_end_stream() {
                return Body::empty();
            }
            let (shutdown, silence) = (self.shutdown.clone(), self.limits.silence);
            Body::new(DrainingBody::new(body, comes_unasked, shutdown, silence))
        });
        let extensions = request.extensions_mut();
        extensions.insert(ConnectInfo(self.peer));
        extensions.insert(self.shutdown.clone());
        if self.tls.is_some() {
            extensions.insert(OwnTls);
        }
        if is_hostless {
            extensions.insert(MissingHost);
        }
        // A router is always ready.
        let Ok(response) = self.router.clone().call(request).await;
        let ends = is_event_stream(response.headers()).then(|| self.shutdown.clone());
        Ok(response.map(|body| BusyBody::new(body, busy, ends)))
    }
}

type Ending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The body of a response: keeps its connection busy until it has been sent, and ends an event
/// stream when the server stops.
struct BusyBody {
    body: Body,
    ending: Option<Ending>,
    _busy: RequestGuard,
}

impl BusyBody {
    fn new(body: Body, busy: RequestGuard, shutdown: Option<Shutdown>) -> Self {
        let ending =
            shutdown.map(|shutdown| -> Ending { Box::pin(async move { shutdown.begun().await }) });
        Self {
            body,
            ending,
            _busy: busy,
        }
    }
}

impl HttpBody for BusyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Some(ending) = &mut self.ending
            && ending.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
