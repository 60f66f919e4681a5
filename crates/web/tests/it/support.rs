//! A running server, and a client that can send malformed requests.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use db::Timestamp;
use test_kit::tls::provide_cryptography;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use web::client::Proxies;
use web::errors::TimestampedErrors;
use web::metrics::Metrics;
use web::server::{Limits, Listener, Options, Shutdown, serve};
use web::{Clock, HttpStack, Random};

/// Longer than anything takes, even on a busy machine. A wait that exceeds it has failed.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// The time at which every test's clock starts.
pub(crate) const NOW: &str = "2026-11-20T12:00:00Z";

pub(crate) fn clock() -> Clock {
    Clock::fixed(Timestamp::parse(NOW).unwrap())
}

pub(crate) fn stack() -> HttpStack {
    HttpStack {
        service: "test",
        random: Random::seeded(1),
        proxies: Proxies::default(),
        public_url: None,
        metrics: Metrics::new(),
        hsts_subdomains: false,
    }
}

/// The router within the whole stack.
pub(crate) fn in_stack(router: Router) -> Router {
    stack().around(router, TimestampedErrors::new(clock()))
}

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) shutdown: Shutdown,
    pub(crate) task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start(router: Router) -> Self {
        Self::with(router, Options::default()).await
    }

    pub(crate) async fn limited(router: Router, limits: Limits) -> Self {
        Self::with(
            router,
            Options {
                limits,
                ..Options::default()
            },
        )
        .await
    }

    pub(crate) async fn with(router: Router, options: Options) -> Self {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap())
            .await
            .unwrap();
        let (address, shutdown) = (listener.address(), Shutdown::new());
        if let Some(tls) = options.tls.clone() {
            tokio::spawn(tls.watch(shutdown.clone()));
        }
        let task = tokio::spawn(serve(listener, router, options, shutdown.clone()));
        Self {
            address,
            shutdown,
            task,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends raw bytes and reads the answer until the server closes.
    pub(crate) async fn say(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        // This fails when the server answers and closes before it has read everything.
        let _ = stream.write_all(bytes).await;
        read_to_end(&mut stream).await
    }
}

/// Reads until the server closes. Panics when it does not.
pub(crate) async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let end = tokio::time::timeout(LONG, stream.read_to_end(&mut bytes));
    let _ = end.await.expect("the server closes the connection");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads until `end` has arrived. Panics when the server closes before that.
pub(crate) async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let text = read_on(stream, end).await;
    assert!(text.contains(end), "closed before {end:?}: {text}");
    text
}

/// Reads until `end` has arrived or the server has closed.
pub(crate) async fn read_on(stream: &mut TcpStream, end: &str) -> String {
    let mut bytes = Vec::new();
    while !String::from_utf8_lossy(&bytes).contains(end) {
        let mut buffer = [0; 4096];
        let read = tokio::time::timeout(LONG, stream.read(&mut buffer));
        match read.await.expect(end) {
            Ok(count) if count > 0 => bytes.extend_from_slice(&buffer[..count]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A GET request by a common HTTP client.
pub(crate) async fn get(url: impl reqwest::IntoUrl) -> reqwest::Result<reqwest::Response> {
    provide_cryptography();
    reqwest::get(url).await
}
