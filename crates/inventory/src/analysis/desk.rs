//! The state that analyses share while the service runs.

use tokio::sync::Notify;
use web::http_client::TlsUnusable;

use super::{Config, language_model::Model, metrics::Metrics};

/// The model, the figures for operators, and the bell that wakes the worker.
pub struct Desk {
    pub(super) model: Option<Model>,
    pub(super) metrics: Metrics,
    pub(super) bell: Notify,
}

impl Desk {
    /// A desk for these settings; nothing is connected yet.
    ///
    /// # Errors
    ///
    /// [`TlsUnusable`], when the model's address needs TLS.
    pub fn new(config: &Config, metrics: &web::metrics::Metrics) -> Result<Self, TlsUnusable> {
        Ok(Self {
            model: config.language_model.clone().map(Model::new).transpose()?,
            metrics: Metrics::new(metrics),
            bell: Notify::new(),
        })
    }
}
