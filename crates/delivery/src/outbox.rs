//! The outbox of a service, shared by its workers and the code that queues work for them.

use std::{fmt, ops::Deref, sync::Arc, time::Duration};

use db::{Db, Replica};
use tokio::sync::Notify;
use web::{Clock, Random, Supervisor, server::Shutdown};

use crate::{
    http::{Secret, Target, WebhookSender},
    mail::Mail,
    metrics::Metrics,
    model::ConfiguredEndpoint,
    service::Service,
};

/// How events reach endpoints.
#[derive(Debug, Clone)]
pub struct Webhooks {
    /// The endpoint whose address is a setting.
    pub configured: Option<EndpointSettings>,
    /// The endpoint of a service that runs in this process.
    pub internal: Option<InternalEndpoint>,
    /// Whether endpoints may stand on this machine and on private networks.
    pub allow_private: bool,
    /// How long events, their deliveries and mail are kept.
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

/// The endpoint of the configuration.
#[derive(Debug, Clone)]
pub struct EndpointSettings {
    /// Its address.
    pub target: Target,
    /// What signs its events: one, or while it is changed two.
    pub secrets: Vec<Secret>,
}

/// The endpoint of a service that runs in this process. It may stand on this machine, whatever
/// holds for others: nobody but the program chooses its address.
#[derive(Debug, Clone)]
pub struct InternalEndpoint {
    /// Where it is, and what signs its events.
    pub endpoint: EndpointSettings,
    /// The types of events it gets.
    pub types: &'static [&'static str],
}

impl Webhooks {
    /// An endpoint of the configuration.
    pub(crate) fn of(&self, endpoint: ConfiguredEndpoint) -> Option<&EndpointSettings> {
        match endpoint {
            ConfiguredEndpoint::Settings => self.configured.as_ref(),
            ConfiguredEndpoint::Internal => {
                self.internal.as_ref().map(|internal| &internal.endpoint)
            }
        }
    }

    /// The types of events that it gets, by comma; blank is all.
    pub(crate) fn types_of(&self, endpoint: ConfiguredEndpoint) -> String {
        match (endpoint, &self.internal) {
            (ConfiguredEndpoint::Internal, Some(internal)) => internal.types.join(","),
            _ => String::new(),
        }
    }
}

/// The parts of an [`Outbox`].
pub struct Parts {
    /// Whose events they are.
    pub service: Service,
    /// How they reach endpoints.
    pub webhooks: Webhooks,
    /// How they become mail, where mail is sent.
    pub mail: Option<Mail>,
    /// Seals the secrets of endpoints. The same on every replica, and not in the database.
    pub secret_key: [u8; 32],
    /// The service's database, which has the tables of [`crate::MIGRATIONS`].
    pub db: Db,
    /// This process among those that serve the database.
    pub replica: Replica,
    /// Tells the time.
    pub clock: Clock,
    /// Gives secrets and jitter.
    pub random: Random,
    /// Ends the workers.
    pub shutdown: Shutdown,
    /// Keeps the workers running.
    pub workers: Supervisor,
}

/// The way out of a service's events. Cheap to clone.
#[derive(Clone)]
pub struct Outbox(pub(crate) Arc<Shared>);

/// The state that the workers share besides the parts.
pub(crate) struct Shared {
    parts: Parts,
    pub(crate) sender: WebhookSender,
    pub(crate) metrics: Metrics,
    pub(crate) published: Notify,
    pub(crate) mailed: Notify,
}

impl Outbox {
    /// With connections of its own, and its metrics among `program`.
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

    /// Events were published, and their transaction has been committed: they are delivered at once.
    /// Without this they are found within seconds.
    pub fn wake(&self) {
        self.0.published.notify_one();
    }

    /// Mail was queued, and its transaction has been committed: it goes out at once.
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
