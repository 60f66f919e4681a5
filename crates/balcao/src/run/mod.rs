//! Running the services: binding addresses, serving, and stopping on signals. `checkout`, `inventory` and `sandbox` build each service
//! from its settings; what a service does lives in its own crate.

pub(crate) mod checkout;
mod database;
mod database_figures;
pub(crate) mod inventory;
mod orders;
pub(crate) mod sandbox;
mod service_manager;
mod signals;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use db::{Address, Db};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use web::Supervisor;
use web::metrics::Metrics;
use web::server::{self, Limits, Listener, Options, Shutdown, Tls, TlsFiles};

use crate::command::Failure;
use crate::data_folder::{self, Hold};
use crate::settings::Settings;
use crate::settings::value::Switch;
use crate::{console, process};
pub(crate) use database::IfGone;
use database_figures::DatabaseFigures;

/// Files that are no connections of clients: databases, logs, calls to others, files that pass through. Half of all where there are few.
const RESERVED_FILES: u64 = 512;
/// Connections of those who read the figures; among the files above.
const METRICS_CONNECTIONS: usize = 16;

/// Services of this process, from the first that listens to the last that has stopped.
pub(crate) struct Run {
    shutdown: Shutdown,
    metrics: Metrics,
    databases: DatabaseFigures,
    tasks: JoinSet<()>,
    stop_timeout: Duration,
}

impl Run {
    /// Nothing runs yet; from here on signals are heard.
    ///
    /// # Errors
    ///
    /// When the system does not let us hear them.
    pub(crate) fn new(settings: &Settings) -> Result<Self, Failure> {
        let shutdown = Shutdown::new();
        signals::listen(shutdown.clone(), settings.drain.0)
            .map_err(|error| Failure::of("signals cannot be received", &error))?;
        signals::end_in_time(shutdown.clone(), settings.stop_timeout);
        let (metrics, databases) = (Metrics::new(), DatabaseFigures::default());
        metrics.collect(databases.clone());
        Ok(Self {
            shutdown,
            metrics,
            databases,
            tasks: JoinSet::new(),
            stop_timeout: settings.stop_timeout,
        })
    }

    /// The word to stop, for workers beside the servers.
    pub(crate) fn shutdown(&self) -> Shutdown {
        self.shutdown.clone()
    }

    /// The figures of this process.
    pub(crate) fn metrics(&self) -> Metrics {
        self.metrics.clone()
    }

    /// Shows the counters of a service's database among the metrics.
    pub(crate) fn count(&self, service: &'static str, db: &Db) {
        self.databases.add(service, db.clone());
    }

    /// Serves `router` on `listener` until the word to stop.
    pub(crate) fn serve(
        &mut self,
        service: &'static str,
        listener: Listener,
        router: Router,
        options: Options,
    ) {
        announce(
            service,
            listener.address(),
            if options.tls.is_some() {
                "https"
            } else {
                "http"
            },
        );
        self.tasks.spawn(server::serve(
            listener,
            router,
            options,
            self.shutdown.clone(),
        ));
    }

    /// Runs work beside the servers; it ends by itself at the word to stop.
    pub(crate) fn work(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(work);
    }

    /// Takes up new certificates, where TLS is ours.
    pub(crate) fn watch_certificate(&mut self, options: &Options, workers: &Supervisor) {
        if let Some(tls) = options.tls.clone() {
            let (workers, shutdown) = (workers.clone(), self.shutdown());
            let watch = move || tls.clone().watch(shutdown.clone());
            self.work(async move { workers.keep("certificate", watch).await });
        }
    }

    /// Waits for the word to stop, and then until everything has ended and `close` is done, or has had its share of the time.
    ///
    /// # Errors
    ///
    /// When a server ended though nobody asked for it. Then all else is stopped, so that the process can be started again.
    pub(crate) async fn until_stopped(
        mut self,
        close: impl Future<Output = ()>,
    ) -> Result<(), Failure> {
        let outcome = tokio::select! {
            () = self.shutdown.begun() => Ok(()),
            // At the word to stop servers end because they should, perhaps before it is heard here.
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
                "not all work ended in time; it is cut off"
            );
            self.tasks.shutdown().await;
        }
        let left = (self.stop_timeout * 29 / 30).saturating_sub(begun.elapsed());
        match timeout(left, close).await {
            Ok(()) => tracing::info!("stopped"),
            Err(_elapsed) => {
                tracing::warn!("stopped before the databases were closed in good order");
            }
        }
        outcome
    }
}

/// Says that everything is served.
pub(crate) fn ready() {
    console::say("ready");
    service_manager::ready();
}

/// Takes the address of the figures, where they are wanted.
///
/// # Errors
///
/// When it cannot be had.
pub(crate) async fn listen_for_metrics(settings: &Settings) -> Result<Option<Listener>, Failure> {
    match settings.metrics_listen {
        Switch::On(address) => listen("BALCAO_METRICS_LISTEN", address).await.map(Some),
        Switch::Off => Ok(None),
    }
}

/// Serves the figures, where they are wanted.
pub(crate) fn metrics(run: &mut Run, listener: Option<Listener>) {
    if let Some(listener) = listener {
        let router = run.metrics.routes();
        let limits = Limits {
            connections: METRICS_CONNECTIONS,
            ..Limits::default()
        };
        let options = Options {
            limits,
            ..Options::default()
        };
        run.serve("metrics", listener, router, options);
    }
}

/// Holds a SQLite database for one service at a time: a second one would take the first one's unfinished work for that of a dead one,
/// and `restore` sees that it is in use. PostgreSQL serves many.
///
/// # Errors
///
/// When another process serves it, with what to do.
pub(crate) fn hold(database: &Address) -> Result<Option<Hold>, Failure> {
    let Address::Sqlite(file) = database else {
        return Ok(None);
    };
    if let Some(folder) = file.parent() {
        data_folder::create(folder)
            .map_err(|error| Failure::of(&folder.display().to_string(), &error))?;
    }
    Hold::take(file).map(Some).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => Failure::new(format!(
            "another balcao serves {} already; stop it, or give this one another BALCAO_DATA_DIR. Several replicas need PostgreSQL",
            file.display()
        )),
        _ => Failure::of(&format!("{} cannot be held", file.display()), &error),
    })
}

/// How services are served: with TLS of our own where it is configured.
///
/// # Errors
///
/// When certificate or key cannot be used.
pub(crate) fn server_options(settings: &Settings) -> Result<Options, Failure> {
    let tls = match (&settings.tls_cert_file, &settings.tls_key_file) {
        (Some(certificate), Some(key)) => {
            let files = TlsFiles {
                certificate: certificate.clone(),
                key: key.clone(),
            };
            Some(Tls::load(files).map_err(|error| {
                Failure::of(
                    "BALCAO_TLS_CERT_FILE and BALCAO_TLS_KEY_FILE cannot be used",
                    &error,
                )
            })?)
        }
        _ => None,
    };
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
            "few files may be open, so each service takes fewer connections"
        );
    }
    Ok(Options {
        tls,
        limits,
        proxies: settings.trusted_proxies.clone(),
    })
}

/// The most connections of each of two services when so many files may be open.
fn connections(open_files: u64) -> usize {
    let reserved = RESERVED_FILES.min(open_files / 2);
    let most = Limits::default().connections;
    usize::try_from((open_files - reserved) / 2).map_or(most, |share| share.clamp(1, most))
}

/// Says in the log where a service listens: with port 0 it is the only place to learn it.
pub(crate) fn announce(service: &'static str, address: SocketAddr, scheme: &'static str) {
    tracing::info!(service, %address, scheme, "listening");
}

/// Takes the address that `setting` names.
///
/// # Errors
///
/// When it cannot be had, with what to do.
pub(crate) async fn listen(setting: &str, address: SocketAddr) -> Result<Listener, Failure> {
    Listener::bind(address)
        .await
        .map_err(|error| cannot_listen(setting, address, &error))
}

/// What to do when an address cannot be had.
pub(crate) fn cannot_listen(setting: &str, address: SocketAddr, error: &io::Error) -> Failure {
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
