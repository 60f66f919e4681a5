//! Runs the services: binds addresses, serves, and stops on signals. `checkout`, `inventory` and
//! `sandbox` build each service from its settings. What a service does is in its own crate.

pub(crate) mod checkout;
mod database;
mod database_metrics;
pub(crate) mod inventory;
mod orders;
pub(crate) mod sandbox;
mod service_manager;
mod signals;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use db::Db;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use web::metrics::Metrics;
use web::rate::Windows;
use web::server::{self, Limits, Listener, Options, Shutdown};
use web::{Clock, Random, Supervisor};

use crate::failure::{Context, Failure};
use crate::settings::{self, Settings};
use crate::{console, process};
pub(crate) use database::{MissingDatabase, RunningService};
use database_metrics::DatabaseMetrics;

/// Files reserved for uses other than client connections: databases, logs, calls to other services,
/// uploads.
const RESERVED_FILES: u64 = 512;
/// The most connections for reading metrics. They count among the reserved files.
const METRICS_CONNECTIONS: usize = 16;

/// Runs the services of this process until the last of them has stopped.
pub(crate) struct ServiceHost {
    shutdown: Shutdown,
    metrics: Metrics,
    database_metrics: DatabaseMetrics,
    tasks: JoinSet<()>,
    stop_timeout: Duration,
}

impl ServiceHost {
    /// Creates a host without services, and begins to handle signals.
    pub(crate) fn new(settings: &Settings) -> Result<Self, Failure> {
        let shutdown = Shutdown::new();
        signals::listen(shutdown.clone(), settings.drain.0)
            .context("signals cannot be received")?;
        signals::end_in_time(shutdown.clone(), settings.stop_timeout);
        let (metrics, database_metrics) = (Metrics::new(), DatabaseMetrics::default());
        metrics.collect(database_metrics.clone());
        Ok(Self {
            shutdown,
            metrics,
            database_metrics,
            tasks: JoinSet::new(),
            stop_timeout: settings.stop_timeout,
        })
    }

    /// The shutdown signal, for workers.
    pub(crate) fn shutdown(&self) -> Shutdown {
        self.shutdown.clone()
    }

    /// The metrics of this process.
    pub(crate) fn metrics(&self) -> Metrics {
        self.metrics.clone()
    }

    /// Adds the counters of a service's database to the metrics.
    pub(crate) fn add_database_metrics(&self, service: &'static str, db: &Db) {
        self.database_metrics.add(service, db.clone());
    }

    /// Serves `router` on `listener` until the shutdown.
    pub(crate) fn serve(
        &mut self,
        service: &'static str,
        listener: Listener,
        router: Router,
        options: Options,
    ) {
        let scheme = if options.tls.is_some() {
            "https"
        } else {
            "http"
        };
        log_address(service, listener.address(), scheme);
        self.tasks.spawn(server::serve(
            listener,
            router,
            options,
            self.shutdown.clone(),
        ));
    }

    /// Runs workers, which end by themselves at the shutdown.
    pub(crate) fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(work);
    }

    /// Reloads the TLS certificate when its files change, if this process terminates TLS.
    pub(crate) fn watch_certificate(&mut self, options: &Options, workers: &Supervisor) {
        if let Some(tls) = options.tls.clone() {
            let (workers, shutdown) = (workers.clone(), self.shutdown());
            let watch = move || tls.clone().watch(shutdown.clone());
            self.spawn(async move { workers.keep("certificate", watch).await });
        }
    }

    /// Waits for the shutdown, and then until everything has ended and `close` is done, or the
    /// timeout is over. A server that ends by itself is an error and stops all others, so that the
    /// process can be restarted.
    pub(crate) async fn until_stopped(
        mut self,
        close: impl Future<Output = ()>,
    ) -> Result<(), Failure> {
        let outcome = tokio::select! {
            () = self.shutdown.begun() => Ok(()),
            // At the shutdown, a server may end before this task sees the signal.
            Some(_) = self.tasks.join_next() => if self.shutdown.has_begun() {
                Ok(())
            } else {
                Err(Failure::new("a server ended by itself; see the log for the cause"))
            }
        };
        self.shutdown.begin();
        let begun = Instant::now();
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(self.stop_timeout * 5 / 6, ended).await.is_err() {
            tracing::warn!(
                tasks = self.tasks.len(),
                "stopping: some requests or workers did not end in time and are cut off"
            );
            self.tasks.shutdown().await;
        }
        let left = (self.stop_timeout * 29 / 30).saturating_sub(begun.elapsed());
        match timeout(left, close).await {
            Ok(()) => tracing::info!("stopped"),
            Err(_elapsed) => {
                tracing::warn!(
                    "stopped before the databases were closed; they recover at the next start"
                );
            }
        }
        outcome
    }
}

/// The rate limit counters of a service: shared by all replicas in Redis, or in this process.
pub(crate) fn rate_windows(
    settings: &Settings,
    service: &str,
    (clock, random): (&Clock, &Random),
) -> Result<Windows, Failure> {
    let Some(url) = &settings.redis_url else {
        return Ok(Windows::memory(clock.clone()));
    };
    let prefix = format!("balcao:{service}:");
    Windows::redis(url.0.as_str(), &prefix, clock.clone(), random.clone())
        .context("BALCAO_REDIS_URL")
}

/// Closes the services one after the other.
pub(crate) async fn close_all(services: Vec<RunningService>) {
    for service in services {
        service.close().await;
    }
}

/// Reports that all services accept connections.
pub(crate) fn ready() {
    // Services run on when their standard output cannot be written.
    if let Err(failure) = console::print("ready") {
        tracing::warn!("{failure}");
    }
    service_manager::ready();
}

/// Binds the address of the metrics. `None` if they are off.
pub(crate) async fn listen_for_metrics(settings: &Settings) -> Result<Option<Listener>, Failure> {
    match settings.metrics_listen.on() {
        Some(address) => listen("BALCAO_METRICS_LISTEN", address).await.map(Some),
        None => Ok(None),
    }
}

/// Serves the metrics, if they are on.
pub(crate) fn serve_metrics(host: &mut ServiceHost, listener: Option<Listener>) {
    if let Some(listener) = listener {
        let router = host.metrics.routes();
        let limits = Limits {
            connections: METRICS_CONNECTIONS,
            ..Limits::default()
        };
        let options = Options {
            limits,
            ..Options::default()
        };
        host.serve("metrics", listener, router, options);
    }
}

/// The server options, with TLS if a certificate is configured.
pub(crate) fn server_options(settings: &Settings) -> Result<Options, Failure> {
    let tls = settings::tls(settings).map_err(|problem| Failure::new(problem.to_string()))?;
    let limits = Limits {
        connections: connections(process::open_files()),
        connections_of_a_peer: connections(process::open_files()) / 4,
        drain: settings.stop_timeout * 4 / 5,
        ..Limits::default()
    };
    if limits.connections < Limits::default().connections {
        let (connections, open_files) = (limits.connections, process::open_files());
        tracing::info!(
            connections,
            open_files,
            "the limit of open files is low, so each service accepts fewer connections: raise it with ulimit -n or LimitNOFILE"
        );
    }
    Ok(Options {
        tls,
        limits,
        proxies: settings.trusted_proxies.clone(),
    })
}

/// The most connections of each of the two services: half of the files that are not reserved.
fn connections(open_files: u64) -> usize {
    let reserved = RESERVED_FILES.min(open_files / 2);
    let most = Limits::default().connections;
    usize::try_from((open_files - reserved) / 2).map_or(most, |share| share.clamp(1, most))
}

/// Logs where a service listens. With port 0, only this line tells the port.
fn log_address(service: &'static str, address: SocketAddr, scheme: &'static str) {
    tracing::info!(service, %address, scheme, "listening");
}

/// Binds the address of `setting`.
pub(crate) async fn listen(setting: &str, address: SocketAddr) -> Result<Listener, Failure> {
    Listener::bind(address)
        .await
        .map_err(|error| cannot_listen(setting, address, &error))
}

/// The failure of binding an address, with advice for the operator.
fn cannot_listen(setting: &str, address: SocketAddr, error: &io::Error) -> Failure {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "something listens there already; stop it, or set another port (0 takes a free one)"
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 need the capability CAP_NET_BIND_SERVICE; see docs/operations.md"
        }
        io::ErrorKind::AddrNotAvailable => {
            "this machine has no such address; `ip address` lists its own"
        }
        _ => "set another address",
    };
    Failure::new(format!(
        "{setting}: cannot listen on {address}: {error}; {advice}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_everything_else() {
        for (open_files, expected) in [
            (64, 16),
            (1024, 256),
            (4096, 1792),
            (65_536, 4096),
            (u64::MAX, 4096),
        ] {
            assert_eq!(connections(open_files), expected, "{open_files}");
        }
    }
}
