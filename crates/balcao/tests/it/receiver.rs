//! A receiver of webhooks that accepts and stores everything.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::serve::Listener;
use rustls::ServerConfig;
use serde_json::Value;
use test_kit::process::Start;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::inventory::inventory;

/// A posted event: its `webhook-id` and its body.
pub(crate) type Arrived = (String, Value);

/// The longest wait for an event, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Listens until its test ends.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    arrived: watch::Sender<Vec<Arrived>>,
    /// The number of events after which it stops answering.
    most: watch::Sender<usize>,
}

impl Receiver {
    /// Starts one without TLS.
    pub(crate) async fn start() -> Self {
        let (receiver, router, listener) = Self::bound().await;
        tokio::spawn(async move { axum::serve(listener, router).await });
        receiver
    }

    /// Starts one with TLS.
    pub(crate) async fn with_tls(config: Arc<ServerConfig>) -> Self {
        let (receiver, router, listener) = Self::bound().await;
        let listener = Protected(listener, TlsAcceptor::from(config));
        tokio::spawn(async move { axum::serve(listener, router).await });
        receiver
    }

    async fn bound() -> (Self, Router, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            address: listener.local_addr().unwrap(),
            arrived: watch::Sender::new(Vec::new()),
            most: watch::Sender::new(usize::MAX),
        };
        let (keep, most) = (receiver.arrived.clone(), receiver.most.clone());
        let handler = async move |headers: HeaderMap, body: Bytes| {
            let has_room = |most: &usize| keep.borrow().len() < *most;
            most.subscribe().wait_for(has_room).await.unwrap();
            let id = headers["webhook-id"].to_str().unwrap().to_owned();
            let event = serde_json::from_slice(&body).unwrap();
            keep.send_modify(|arrived| arrived.push((id, event)));
            StatusCode::NO_CONTENT
        };
        let router = Router::new().route("/hooks", post(handler));
        (receiver, router, listener)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    /// Accepts about so many events; later ones wait until the limit is raised.
    pub(crate) fn takes(&self, most: usize) {
        self.most.send_replace(most);
    }

    pub(crate) fn arrived(&self) -> Vec<Arrived> {
        self.arrived.borrow().clone()
    }

    /// Waits until enough events have arrived; returns them.
    pub(crate) async fn until(&self, is_enough: impl FnMut(&Vec<Arrived>) -> bool) -> Vec<Arrived> {
        let mut arrived = self.arrived.subscribe();
        let enough = timeout(PATIENCE, arrived.wait_for(is_enough)).await;
        let count = || self.arrived.borrow().len();
        enough
            .unwrap_or_else(|_| panic!("{} arrived, and no more came", count()))
            .unwrap()
            .clone()
    }

    /// Waits until so many events have arrived.
    pub(crate) async fn has(&self, count: usize) -> Vec<Arrived> {
        self.until(|arrived| arrived.len() >= count).await
    }

    /// An inventory with this receiver as the endpoint of its configuration.
    pub(crate) fn service(&self) -> Start {
        inventory()
            .env("BALCAO_INVENTORY_WEBHOOK_URL", self.url())
            .env(
                "BALCAO_INVENTORY_WEBHOOK_SECRET",
                "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            )
            .env("BALCAO_INVENTORY_WEBHOOK_ALLOW_PRIVATE", "true")
    }
}

/// A listener that accepts TLS connections.
struct Protected(TcpListener, TlsAcceptor);

impl Listener for Protected {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = self.0.accept().await.unwrap();
            if let Ok(stream) = self.1.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

/// A gateway that terminates TLS in front of a server without it.
pub(crate) async fn tls_before(server: SocketAddr, config: Arc<ServerConfig>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut listener = Protected(listener, TlsAcceptor::from(config));
    tokio::spawn(async move {
        loop {
            let (mut outside, _) = listener.accept().await;
            let mut inside = TcpStream::connect(server).await.unwrap();
            // Either side may close the connection.
            tokio::spawn(async move { copy_bidirectional(&mut outside, &mut inside).await });
        }
    });
    address
}
