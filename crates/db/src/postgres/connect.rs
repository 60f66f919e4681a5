//! Opening connections: TLS, time limits, and what every session is set to.

use std::{sync::Arc, time::Duration};

use rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio_postgres::{Client, Config, config::SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{PostgresAddress, errors};
use crate::{Error, Options};

/// All that is needed to open a connection.
#[derive(Clone)]
pub(crate) struct Connector {
    config: Config,
    tls: MakeRustlsConnect,
    wait: Duration,
    set_up: String,
}

impl Connector {
    /// Reads the root certificates, if TLS may be used. Blocks on the disk.
    pub(super) fn new(address: &PostgresAddress, options: &Options) -> Result<Self, Error> {
        let mut config = (*address.config).clone();
        config.application_name(&options.application_name);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(options.wait);
        }
        // Reading jobs run without a transaction of their own, so what they may not do is the session's default. It is
        // also why a BEGIN may travel together with the statements after it: should it fail, they cannot write.
        // A client that stalls in the middle of a transaction does not hold its locks for ever.
        // What a request asks for is found by an index: starting workers or compiling the plan would take longer than all of it.
        let set_up = format!(
            "SET default_transaction_read_only = on; SET statement_timeout = {0}; SET lock_timeout = {0};
             SET idle_in_transaction_session_timeout = {1}; SET max_parallel_workers_per_gather = 0; SET jit = off",
            options.statement_timeout.as_millis(),
            options.report_timeout.as_millis(),
        );
        Ok(Self {
            tls: MakeRustlsConnect::new(tls(address)?),
            config,
            wait: options.wait,
            set_up,
        })
    }

    /// The same for connections whose statements are planned once, whatever the values are that they are sent with.
    pub(super) fn planning_once(&self) -> Self {
        let mut connector = self.clone();
        connector
            .set_up
            .push_str("; SET plan_cache_mode = force_generic_plan");
        connector
    }

    /// Opens a connection whose traffic is carried by a task of the current runtime.
    pub(super) async fn connect(&self) -> Result<Client, Error> {
        let opened = tokio::time::timeout(self.wait, async {
            let (client, connection) = self.config.connect(self.tls.clone()).await?;
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::warn!(error = %errors::translate(&error), "a PostgreSQL connection ended");
                }
            });
            client.batch_execute(&self.set_up).await?;
            Ok(client)
        });
        match opened.await {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(error)) => {
                let cause = errors::translate(&error);
                Err(Error::unavailable(format!(
                    "cannot connect to PostgreSQL: {cause}"
                )))
            }
            Err(_elapsed) => Err(Error::unavailable("PostgreSQL did not answer in time")),
        }
    }
}

fn tls(address: &PostgresAddress) -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    if address.config.get_ssl_mode() != SslMode::Disable {
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
