//! Restock analyses. Formulas compute how much to order of a product that runs low. A language
//! model, if one is configured, writes the text around the figures. The result is stored.
//!
//! Carries the specification's "Analysis result". Nothing is ordered here, and no figure comes from
//! a model.
//!
//! `work` processes the queue of requests, `service` serves pages and the API, `report` covers the
//! whole shop.

pub(crate) mod api;
mod assess;
mod config;
mod history;
mod language_model;
mod metrics;
pub mod model;
mod payload;
pub mod report;
mod restock_terms;
mod result;
pub(crate) mod service;
mod store;
pub(crate) mod text;
mod work;

pub(crate) use assess::{RestockSettings, assess};
pub use config::{AnalysisConfig, LanguageModel};
pub(crate) use history::sales_paces;
pub(crate) use payload::webhook;
pub use restock_terms::RestockTerms;
pub(crate) use result::FIELDS;
pub use result::{Analysis, AnalysisRecord, AnalysisSummary, Provenance, Source};
pub use service::{
    AnalysisStatus, Phase, analyse_now, latest, list, read, records, request_now, status, waiting,
};
pub(crate) use service::{is_outdated, product, read_terms, search, write_terms};
pub(crate) use store::{
    history::{AnalysedProduct, products},
    queue::{insert as request, withdraw},
    results::newest,
    terms::write as restore_terms,
};
pub(crate) use text::reason;
pub(crate) use work::run;
pub use work::{WorkOutcome, work_on_product, work_once};

use db::{Error, Tx};
use tokio::sync::Notify;
use web::http_client::TlsUnusable;

use crate::State;
use language_model::ConfiguredModel;
use metrics::AnalysisMetrics;

/// The language model, the metrics, and the signal that wakes the worker.
pub struct AnalysisRuntime {
    model: Option<ConfiguredModel>,
    metrics: AnalysisMetrics,
    wake_worker: Notify,
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

/// Releases the requests that dead replicas had claimed, and wakes the worker. Returns how many.
pub async fn release_dead(state: &State) -> Result<u64, Error> {
    let now = state.clock.now();
    let release = async move |tx: &mut Tx| store::queue::release_dead(tx, now).await;
    let released = state.db.write::<_, Error, _>(release).await?;
    state.analysis.wake_worker.notify_one();
    Ok(released)
}
