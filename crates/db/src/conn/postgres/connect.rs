//! Opening connections: TLS, time limits, and what every session is set to.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio_postgres::{Client, Config, SimpleQueryMessage, config::SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::errors;
use crate::{
    Error, Options,
    address::postgres::{PostgresAddress, host_and_port},
};

/// The oldest supported version, in the form of `server_version_num`. Most tests run on Debian's,
/// which is newer; one runs on this version.
const OLDEST: u32 = 140_000;

/// All that is needed to open a connection.
#[derive(Clone)]
pub(crate) struct Connector {
    hosts: Arc<[Config]>,
    /// The host that answered last, which is asked first.
    last: Arc<AtomicUsize>,
    tls: MakeRustlsConnect,
    wait: Duration,
    set_up: String,
}

impl Connector {
    /// Reads the root certificates, if TLS may be used. Blocks on the disk.
    pub(crate) fn new(address: &PostgresAddress, options: &Options) -> Result<Self, Error> {
        let mut hosts = address.hosts.clone();
        let count = u32::try_from(hosts.len()).unwrap_or(u32::MAX).max(1);
        for config in &mut hosts {
            config.application_name(&options.application_name);
            if config.get_connect_timeout().is_none() {
                // The timeout is for one address. A name may have several, and the first may be
                // that of a machine that is gone.
                config.connect_timeout(options.wait / count / 2);
            }
        }
        // Reading jobs run without a transaction, so the session itself is read-only by default.
        // This also makes it safe to send a BEGIN together with the statements after it: if the
        // BEGIN fails, they cannot write. The idle timeout releases the locks of a client that
        // stalls in a transaction. Requests read by an index, so starting parallel workers or
        // compiling the plan would take longer than the query.
        let set_up = format!(
            "SET default_transaction_read_only = on; SET statement_timeout = {}; SET lock_timeout = {};
             SET idle_in_transaction_session_timeout = {}; SET max_parallel_workers_per_gather = 0; SET jit = off",
            options.statement_timeout.as_millis(),
            options.lock_timeout.as_millis(),
            options.idle_timeout.as_millis(),
        );
        Ok(Self {
            tls: MakeRustlsConnect::new(tls(address)?),
            hosts: hosts.into(),
            last: Arc::default(),
            wait: options.wait,
            set_up,
        })
    }

    /// The same for reports and loads, which may wait and take long.
    pub(crate) fn for_reports(&self, options: &Options) -> Self {
        let mut connector = self.clone();
        connector.set_up = format!(
            "{}; SET lock_timeout = {}; SET idle_in_transaction_session_timeout = {}",
            self.set_up,
            options.long_lock_timeout.as_millis(),
            options.report_timeout.as_millis(),
        );
        connector
    }

    /// The same for connections that use one generic plan for each statement, whatever its values.
    pub(crate) fn planning_once(&self) -> Self {
        let mut connector = self.clone();
        connector
            .set_up
            .push_str("; SET plan_cache_mode = force_generic_plan");
        connector
    }

    /// Opens a connection, which is driven by a task of the current runtime. Each host has its
    /// share of the time, so that one that drops packets does not keep the next from being tried.
    pub(crate) async fn connect(&self) -> Result<Client, Error> {
        let until = Instant::now() + self.wait;
        let first = self.last.load(Ordering::Relaxed);
        let numbers = (0..self.hosts.len()).cycle().skip(first);
        let mut failures = Vec::new();
        for (number, left) in numbers.zip((1..=self.hosts.len()).rev()) {
            let Some(config) = self.hosts.get(number) else {
                break;
            };
            let left = u32::try_from(left).unwrap_or(u32::MAX);
            let share = until.saturating_duration_since(Instant::now()) / left;
            let failure = match tokio::time::timeout(share, self.connect_to(config)).await {
                Ok(Ok(client)) => {
                    self.last.store(number, Ordering::Relaxed);
                    return Ok(client);
                }
                Ok(Err(error)) => errors::translate(&error).to_string(),
                Err(_elapsed) => "it did not answer in time".to_owned(),
            };
            failures.push(format!("{}: {failure}", host_and_port(config)));
        }
        Err(Error::unavailable(format!(
            "cannot connect to PostgreSQL: {}",
            failures.join("; ")
        )))
    }

    async fn connect_to(&self, config: &Config) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = config.connect(self.tls.clone()).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::warn!(error = %errors::translate(&error), "a PostgreSQL connection was lost: the next use opens another");
            }
        });
        client.batch_execute(&self.set_up).await?;
        Ok(client)
    }

    /// Connects once, to report a wrong address or server early.
    pub(crate) async fn try_once(&self) -> Result<(), Error> {
        let client = self.connect().await?;
        let asking = client.simple_query("SHOW server_version_num");
        let answer = tokio::time::timeout(self.wait, asking).await;
        let answer = answer
            .map_err(|_elapsed| Error::unavailable("PostgreSQL did not answer in time"))?
            .map_err(|error| errors::translate(&error).context("the server's version"))?;
        let number = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        check_version(number.unwrap_or_default())
    }
}

/// Refuses a server that is older than supported, by its `server_version_num`: its major version
/// times 10,000 and the minor one.
fn check_version(number: &str) -> Result<(), Error> {
    match number.parse::<u32>() {
        Ok(number) if number < OLDEST => Err(Error::other(format!(
            "this server is PostgreSQL {}.{}; balcao needs {} or newer",
            number / 10_000,
            number % 10_000,
            OLDEST / 10_000,
        ))),
        Ok(_) => Ok(()),
        Err(_) => Err(Error::other("the server does not tell its version")),
    }
}

fn tls(address: &PostgresAddress) -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    if address.tls() != SslMode::Disable {
        let found = match &address.root_certificates {
            Some(file) => rustls_native_certs::load_certs_from_paths(Some(file), None),
            None => rustls_native_certs::load_native_certs(),
        };
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            let causes: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
            return Err(Error::other(format!(
                "no root certificate to verify PostgreSQL by: {}",
                causes.join(", ")
            )));
        }
    }
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_root_certificates(roots).with_no_client_auth())
        .map_err(|error| Error::other(format!("TLS cannot be set up: {error}")))
}

#[cfg(test)]
mod tests {
    use super::check_version;

    #[test]
    fn a_server_older_than_promised_is_refused_by_its_version() {
        for (number, is_promised) in [
            ("90624", false),
            ("130023", false),
            ("140000", true),
            ("150014", true),
            ("180001", true),
            ("", false),
        ] {
            assert_eq!(check_version(number).is_ok(), is_promised, "{number}");
        }
        let error = check_version("130023").unwrap_err().to_string();
        assert_eq!(
            error,
            "this server is PostgreSQL 13.23; balcao needs 14 or newer"
        );
    }
}
