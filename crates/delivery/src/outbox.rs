//! The outbox of a service, which its workers share with the code that queues work for them, and its
//! settings.

use std::{fmt, ops::Deref, sync::Arc, time::Duration};

use db::{Db, Replica};
use tokio::sync::Notify;
use web::{Clock, Random, Supervisor, server::Shutdown};

use crate::{
    http::{Secret, Target, WebhookSender},
    mail::Mail,
    metrics::Metrics,
    model::{ConfiguredEndpoint, Service},
};

/// The webhook settings of a service.
#[derive(Debug, Clone)]
pub struct Webhooks {
    /// The endpoint whose address is a setting.
    pub configured: Option<EndpointSettings>,
    /// The endpoint of another service in this process.
    pub internal: Option<InternalEndpoint>,
    /// Whether endpoints may be on this machine and on private networks.
    pub allow_private: bool,
    /// How long events, their deliveries and mails are kept.
    pub retention: Duration,
}

impl Default for Webhooks {
    fn default() -> Self {
        Self {
            configured: None,
            internal: None,
            allow_private: false,
            retention: Duration::from_secs(30 * 24 * 60 * 60),
        }
    }
}

/// An endpoint of the configuration.
#[derive(Debug, Clone)]
pub struct EndpointSettings {
    /// Its address.
    pub target: Target,
    /// The secrets that sign its events: one, or two during a rotation.
    pub secrets: Vec<Secret>,
}

/// The endpoint of another service in this process. It may always be on this machine, because only
/// the program chooses its address.
#[derive(Debug, Clone)]
pub struct InternalEndpoint {
    /// The address and the signing secrets.
    pub endpoint: EndpointSettings,
    /// The subscribed event types.
    pub types: &'static [&'static str],
}

impl Webhooks {
    /// The settings of an endpoint of the configuration.
    pub(crate) fn of(&self, endpoint: ConfiguredEndpoint) -> Option<&EndpointSettings> {
        match endpoint {
            ConfiguredEndpoint::Settings => self.configured.as_ref(),
            ConfiguredEndpoint::Internal => {
                self.internal.as_ref().map(|internal| &internal.endpoint)
            }
        }
    }

    /// Its subscribed event types, separated by commas. Blank means all.
    pub(crate) fn types_of(&self, endpoint: ConfiguredEndpoint) -> String {
        match (endpoint, &self.internal) {
            (ConfiguredEndpoint::Internal, Some(internal)) => internal.types.join(","),
            _ => String::new(),
        }
    }
}

/// The parts of an [`Outbox`].
pub struct Parts {
    /// The service whose events are delivered.
    pub service: Service,
    /// The webhook settings.
    pub webhooks: Webhooks,
    /// The mail settings. `None` sends no mail.
    pub mail: Option<Mail>,
    /// Encrypts the secrets of endpoints. Must be the same on every replica, and must not be in the
    /// database.
    pub secret_key: [u8; 32],
    /// The service's database, which has the tables of [`crate::MIGRATIONS`].
    pub db: Db,
    /// The registration of this process as a replica.
    pub replica: Replica,
    /// Tells the time.
    pub clock: Clock,
    /// Generates secrets and jitter.
    pub random: Random,
    /// Ends the workers.
    pub shutdown: Shutdown,
    /// Keeps the workers running.
    pub workers: Supervisor,
}

/// The outbox of a service. Cheap to clone.
#[derive(Clone)]
pub struct Outbox(pub(crate) Arc<Shared>);

/// The state that the workers share, in addition to the parts.
pub(crate) struct Shared {
    parts: Parts,
    pub(crate) sender: WebhookSender,
    pub(crate) metrics: Metrics,
    pub(crate) published: Notify,
    pub(crate) mailed: Notify,
}

impl Outbox {
    /// Creates the outbox with its own connection pool, and registers its metrics with `program`.
    pub fn new(parts: Parts, program: &web::metrics::Metrics) -> Self {
        let service = parts.service;
        Self(Arc::new(Shared {
            sender: WebhookSender::new(parts.webhooks.allow_private, service.allow_private),
            metrics: Metrics::new(program, service.metrics),
            published: Notify::new(),
            mailed: Notify::new(),
            parts,
        }))
    }

    /// Wakes the workers after events were committed, so that they are delivered at once. Without
    /// this call they are found within seconds.
    pub fn wake(&self) {
        self.0.published.notify_one();
    }

    /// Wakes the mail worker after mail was committed, so that it is sent at once.
    pub fn wake_mail(&self) {
        self.0.mailed.notify_one();
    }
}

impl Deref for Outbox {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0.parts
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Outbox")
            .field(&self.0.parts.service)
            .finish()
    }
}
