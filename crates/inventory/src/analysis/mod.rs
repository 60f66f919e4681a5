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
pub(crate) mod restock_terms;
mod result;
mod runtime;
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
pub use runtime::AnalysisRuntime;
pub use service::{
    AnalysisStatus, Phase, analyse_now, latest, list, newest, read, records, request_now, status,
    waiting,
};
pub(crate) use service::{product, read_terms, search, write_terms};
pub(crate) use store::history::{AnalysedProduct, products};
pub use store::latest_suggestion;
pub(crate) use text::reason;
pub(crate) use work::run;
pub use work::{WorkOutcome, work_on_product, work_once};

use db::{Error, Timestamp, Tx};

use crate::State;

/// Releases the requests that dead replicas had claimed, and wakes the worker. Returns how many.
pub async fn release_dead(state: &State) -> Result<u64, Error> {
    let now = state.clock.now();
    let release = async move |tx: &mut Tx| {
        let requests = store::queue::release_dead(tx, now).await?;
        Ok::<_, Error>(requests + store::shop::release_dead(tx, now).await?)
    };
    let released = state.db.write(release).await?;
    state.analysis.wake_worker.notify_one();
    Ok(released)
}

/// Requests an analysis of a product, in the transaction that made its stock low. One SQL
/// statement, which does nothing if the product is already in the queue.
pub async fn request(tx: &mut Tx, product: i64, now: Timestamp) -> Result<(), Error> {
    store::queue::insert(tx, product, now).await
}

/// Deletes the request for a product's analysis, unless a worker has claimed it.
pub async fn withdraw(tx: &mut Tx, product: i64) -> Result<(), Error> {
    store::queue::withdraw(tx, product).await
}
