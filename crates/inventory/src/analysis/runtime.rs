//! The shared state of analyses while the service runs.

use tokio::sync::Notify;
use web::http_client::TlsUnusable;

use super::{AnalysisConfig, language_model::ConfiguredModel, metrics::AnalysisMetrics};

/// The language model, the metrics, and the signal that wakes the worker.
pub struct AnalysisRuntime {
    pub(super) model: Option<ConfiguredModel>,
    pub(super) metrics: AnalysisMetrics,
    pub(super) wake_worker: Notify,
}

impl AnalysisRuntime {
    /// Creates the runtime. Opens no connection.
    pub fn new(
        config: &AnalysisConfig,
        metrics: &web::metrics::Metrics,
    ) -> Result<Self, TlsUnusable> {
        Ok(Self {
            model: config
                .language_model
                .clone()
                .map(ConfiguredModel::new)
                .transpose()?,
            metrics: AnalysisMetrics::new(metrics),
            wake_worker: Notify::new(),
        })
    }
}
