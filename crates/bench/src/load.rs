//! A small load generator: one connection per worker, one request after the other, over HTTP/1.1.
//! It has no pool and no queue, so it takes little of the processor time that it measures.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{HeaderName, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The requests of a run.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    /// Sent in turn; each connection starts at another position.
    pub(super) calls: Arc<[Call]>,
    pub(super) headers: Vec<(HeaderName, String)>,
    /// A header that gets a unique value in each request, if any.
    pub(super) fresh_key: Option<HeaderName>,
    pub(super) expected: StatusCode,
}

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Bytes,
}

impl Call {
    /// A GET request.
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            path: path.into(),
            body: Bytes::new(),
        }
    }

    /// A request with a body, which is JSON unless the target's headers say otherwise.
    pub(super) fn send(method: Method, path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            method,
            path: path.into(),
            body: body.into(),
        }
    }
}

/// The result of a run.
#[derive(Debug, Default)]
pub(super) struct RunStatistics {
    latencies: Vec<Duration>,
    elapsed: Duration,
    pub(super) failed: u64,
}

/// The failure of a worker's connection, or of the whole run.
pub type LoadError = Box<dyn std::error::Error + Send + Sync>;

/// The end of a run.
#[derive(Clone)]
enum Until {
    Time(Instant),
    /// Same as `Time`, with a pause between the requests of each connection.
    Paced(Instant, Duration),
    /// After this number of requests on all connections together.
    Count(Arc<AtomicUsize>, usize),
}

impl Until {
    /// The number of a worker's next request, from 1. `None` when the run is over.
    fn next(&self, number: usize) -> Option<usize> {
        match self {
            Self::Time(end) | Self::Paced(end, _) => (Instant::now() < *end).then_some(number + 1),
            Self::Count(begun, all) => {
                let place = begun.fetch_add(1, Ordering::Relaxed);
                (place < *all).then_some(place + 1)
            }
        }
    }
}

/// Sends requests on `connections` connections for `length`.
///
/// # Errors
///
/// When a connection cannot be made or breaks.
pub(super) async fn run(
    target: &Target,
    connections: u32,
    length: Duration,
) -> Result<RunStatistics, LoadError> {
    let end = Instant::now() + length;
    run_until(target, connections, &Until::Time(end)).await
}

/// Same as [`run`], at a fixed rate of requests per second on all connections together. The latency
/// then does not include waiting for a processor.
///
/// # Errors
///
/// Those of [`run`].
pub(super) async fn run_paced(
    target: &Target,
    connections: u32,
    length: Duration,
    rate: u32,
) -> Result<RunStatistics, LoadError> {
    let pause = Duration::from_secs(1) * connections / rate.max(1);
    let end = Instant::now() + length;
    run_until(target, connections, &Until::Paced(end, pause)).await
}

/// Sends `count` requests on `connections` connections.
///
/// # Errors
///
/// Those of [`run`].
pub(super) async fn run_count(
    target: &Target,
    connections: u32,
    count: usize,
) -> Result<RunStatistics, LoadError> {
    let until = Until::Count(Arc::default(), count);
    run_until(target, connections, &until).await
}

async fn run_until(
    target: &Target,
    connections: u32,
    until: &Until,
) -> Result<RunStatistics, LoadError> {
    let mut workers = JoinSet::new();
    let begin = Instant::now();
    for worker in 0..connections {
        // The requests of paced connections are spread evenly over the pause.
        let turn = match until {
            Until::Paced(_, pause) => begin + *pause * worker / connections,
            Until::Time(_) | Until::Count(..) => begin,
        };
        workers.spawn(work(target.clone(), worker, until.clone(), turn));
    }
    let mut all = RunStatistics::default();
    while let Some(done) = workers.join_next().await {
        let one = done??;
        all.latencies.extend(one.latencies);
        all.failed += one.failed;
    }
    all.elapsed = begin.elapsed();
    all.latencies.sort_unstable();
    Ok(all)
}

async fn work(
    target: Target,
    worker: u32,
    until: Until,
    mut turn: Instant,
) -> Result<RunStatistics, LoadError> {
    let (mut sender, connection) = connect(target.address).await?;
    let mut measured = RunStatistics::default();
    let mut number = 0;
    // Distant start positions, so that workers do not send the same requests at once.
    let first = match until {
        Until::Time(_) | Until::Paced(..) => usize::try_from(worker)?.saturating_mul(7919),
        Until::Count(..) => 0,
    };
    while let Some(next) = until.next(number) {
        number = next;
        let request = request(&target, worker, first.wrapping_add(number - 1), number)?;
        if let Until::Paced(_, pause) = until {
            tokio::time::sleep_until(turn.into()).await;
            turn += pause;
        }
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

/// Sends one request on a new connection, and returns the response body.
///
/// # Errors
///
/// When the connection cannot be made or breaks, or the status is unexpected.
pub(super) async fn fetch(target: &Target) -> Result<Bytes, LoadError> {
    Ok(answer(target).await?.into_body())
}

/// Same as [`fetch`], with the response head.
///
/// # Errors
///
/// Those of [`fetch`].
pub(super) async fn answer(target: &Target) -> Result<Response<Bytes>, LoadError> {
    let (mut sender, connection) = connect(target.address).await?;
    sender.ready().await?;
    let response = sender.send_request(request(target, 0, 0, 1)?).await?;
    let (head, body) = response.into_parts();
    let body = body.collect().await?.to_bytes();
    drop(sender);
    connection.await??;
    if head.status == target.expected {
        return Ok(Response::from_parts(head, body));
    }
    let path = target.calls.first().map_or("", |call| &call.path);
    let body_text = String::from_utf8_lossy(&body);
    Err(format!("{path}: {}: {body_text}", head.status).into())
}

type OpenConnection = (
    SendRequest<Full<Bytes>>,
    tokio::task::JoinHandle<Result<(), hyper::Error>>,
);

async fn connect(address: SocketAddr) -> Result<OpenConnection, LoadError> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    Ok((sender, tokio::spawn(connection)))
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
    place: usize,
    number: usize,
) -> Result<Request<Full<Bytes>>, LoadError> {
    let calls = &target.calls;
    let call = calls
        .get(place % calls.len().max(1))
        .ok_or("nothing to ask for")?;
    let mut request = Request::builder()
        .method(call.method.clone())
        .uri(&call.path)
        .header(header::HOST, target.address.to_string());
    let is_told = |(name, _): &(HeaderName, String)| *name == header::CONTENT_TYPE;
    if !call.body.is_empty() && !target.headers.iter().any(is_told) {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    for (name, value) in &target.headers {
        request = request.header(name, value);
    }
    if let Some(name) = &target.fresh_key {
        // Unique among the workers and requests of a run, and as long as the keys of real callers.
        let run = std::process::id();
        request = request.header(
            name,
            format!("{run:08x}-{worker:04x}-4000-8000-{number:012x}"),
        );
    }
    Ok(request.body(Full::new(call.body.clone()))?)
}

impl RunStatistics {
    /// Adds the results of another run of the same target.
    pub(super) fn join(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.latencies.sort_unstable();
        self.elapsed += other.elapsed;
        self.failed += other.failed;
    }

    /// The latency below which `percent` of the requests stayed.
    pub(super) fn percentile(&self, percent: usize) -> Duration {
        let place =
            (self.latencies.len() * percent / 100).min(self.latencies.len().saturating_sub(1));
        self.latencies.get(place).copied().unwrap_or_default()
    }

    /// The number of successful responses.
    pub(super) fn count(&self) -> f64 {
        f64::from(u32::try_from(self.latencies.len()).unwrap_or(u32::MAX))
    }

    /// The successful responses per second.
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
        let measured = RunStatistics {
            latencies,
            elapsed: Duration::from_secs(2),
            failed: 0,
        };
        assert_eq!(measured.percentile(50), Duration::from_millis(51));
        assert_eq!(measured.percentile(99), Duration::from_millis(100));
        assert!((measured.per_second() - 50.0).abs() < f64::EPSILON);
        assert_eq!(RunStatistics::default().percentile(99), Duration::ZERO);
    }
}
