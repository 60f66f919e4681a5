//! What the delivery workers share: wake-up signals, connections to receivers, metrics.

use tokio::sync::Notify;

use super::{
    http::{Secret, Sender, Target},
    metrics::Metrics,
};

/// How events reach endpoints.
#[derive(Debug, Clone)]
pub struct Webhooks {
    /// The endpoint of the configuration.
    pub configured: Option<Configured>,
    /// Whether endpoints may stand on this machine and on private networks.
    pub allow_private: bool,
    /// How long events, their deliveries and mail are kept.
    pub retention: std::time::Duration,
}

impl Default for Webhooks {
    fn default() -> Self {
        Self {
            configured: None,
            allow_private: false,
            retention: std::time::Duration::from_secs(30 * 24 * 60 * 60),
        }
    }
}

/// The endpoint of the configuration.
#[derive(Debug, Clone)]
pub struct Configured {
    /// Its address.
    pub target: Target,
    /// What signs its events: one, or while it is changed two.
    pub secrets: Vec<Secret>,
}

/// Shared by the workers that deliver, and by those who give them work.
#[derive(Debug)]
pub struct Outbox {
    pub(super) sender: Sender,
    pub(super) metrics: Metrics,
    pub(super) published: Notify,
    pub(super) mailed: Notify,
}

impl Outbox {
    /// With connections of its own.
    ///
    /// # Errors
    ///
    /// When TLS cannot be set up.
    pub fn new(
        webhooks: &Webhooks,
        figures: &web::metrics::Metrics,
    ) -> Result<Self, rustls::Error> {
        Ok(Self {
            sender: Sender::new(webhooks.allow_private)?,
            metrics: Metrics::new(figures),
            published: Notify::new(),
            mailed: Notify::new(),
        })
    }

    /// Events were published, and their transaction has been committed: they are delivered at once. Without this word they are found
    /// within seconds.
    pub fn wake(&self) {
        self.published.notify_one();
    }

    /// Mail was kept, and its transaction has been committed: it goes out at once.
    pub(crate) fn wake_mail(&self) {
        self.mailed.notify_one();
    }
}
