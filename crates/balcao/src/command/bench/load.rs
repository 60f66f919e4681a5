//! A small load generator: one connection per worker, one request after the other, over HTTP/1.1 without a pool or a queue
//! of its own, so that it takes little of the processor that it measures.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{HeaderName, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// What is asked, again and again.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    pub(super) path: &'static str,
    pub(super) headers: Vec<(HeaderName, String)>,
    pub(super) body: Bytes,
    /// The header that gets a fresh value with each request, if any.
    pub(super) fresh_key: Option<HeaderName>,
    pub(super) expected: StatusCode,
}

/// What a run of requests was like.
#[derive(Debug, Default)]
pub(super) struct Measured {
    latencies: Vec<Duration>,
    elapsed: Duration,
    pub(super) failed: u64,
}

/// The failure of a worker's connection, or of the whole run.
pub(super) type LoadError = Box<dyn std::error::Error + Send + Sync>;

/// Sends requests over `connections` connections for `length`.
///
/// # Errors
///
/// When a connection cannot be made or breaks.
pub(super) async fn run(
    target: &Target,
    connections: u32,
    length: Duration,
) -> Result<Measured, LoadError> {
    let mut workers = JoinSet::new();
    let begin = Instant::now();
    for worker in 0..connections {
        workers.spawn(work(target.clone(), worker, begin + length));
    }
    let mut all = Measured::default();
    while let Some(done) = workers.join_next().await {
        let one = done??;
        all.latencies.extend(one.latencies);
        all.failed += one.failed;
    }
    all.elapsed = begin.elapsed();
    all.latencies.sort_unstable();
    Ok(all)
}

async fn work(target: Target, worker: u32, end: Instant) -> Result<Measured, LoadError> {
    let stream = TcpStream::connect(target.address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let mut measured = Measured::default();
    let mut number: u64 = 0;
    while Instant::now() < end {
        number += 1;
        let request = request(&target, worker, number)?;
        let begin = Instant::now();
        let status = exchange(&mut sender, request).await?;
        if status == target.expected {
            measured.latencies.push(begin.elapsed());
        } else {
            measured.failed += 1;
        }
    }
    drop(sender);
    connection.await??;
    Ok(measured)
}

async fn exchange(
    sender: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<StatusCode, hyper::Error> {
    sender.ready().await?;
    let mut response = sender.send_request(request).await?;
    while let Some(frame) = response.frame().await {
        frame?;
    }
    Ok(response.status())
}

fn request(
    target: &Target,
    worker: u32,
    number: u64,
) -> Result<Request<Full<Bytes>>, axum::http::Error> {
    let mut request = Request::post(target.path)
        .header(header::HOST, target.address.to_string())
        .header(header::CONTENT_TYPE, "application/json");
    for (name, value) in &target.headers {
        request = request.header(name, value);
    }
    if let Some(name) = &target.fresh_key {
        // Unique among the workers and requests of a run, and as long as the identifiers of real callers.
        let run = std::process::id();
        request = request.header(
            name,
            format!("{run:08x}-{worker:04x}-4000-8000-{number:012x}"),
        );
    }
    request.body(Full::new(target.body.clone()))
}

impl Measured {
    /// Joins another run of the same target.
    pub(super) fn join(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.latencies.sort_unstable();
        self.elapsed += other.elapsed;
        self.failed += other.failed;
    }

    /// The latency below which this many of a hundred requests stayed.
    pub(super) fn percentile(&self, percent: usize) -> Duration {
        let place =
            (self.latencies.len() * percent / 100).min(self.latencies.len().saturating_sub(1));
        self.latencies.get(place).copied().unwrap_or_default()
    }

    /// How many answers were good.
    pub(super) fn count(&self) -> f64 {
        f64::from(u32::try_from(self.latencies.len()).unwrap_or(u32::MAX))
    }

    /// Good answers a second.
    pub(super) fn per_second(&self) -> f64 {
        self.count() / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_read_from_the_sorted_latencies() {
        let latencies = (1..=100).map(Duration::from_millis).collect();
        let measured = Measured {
            latencies,
            elapsed: Duration::from_secs(2),
            failed: 0,
        };
        assert_eq!(measured.percentile(50), Duration::from_millis(51));
        assert_eq!(measured.percentile(99), Duration::from_millis(100));
        assert!((measured.per_second() - 50.0).abs() < f64::EPSILON);
        assert_eq!(Measured::default().percentile(99), Duration::ZERO);
    }
}
