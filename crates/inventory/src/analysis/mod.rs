//! Restock analyses: a product that runs low is analysed by the formulas, the result is worded by a language model where one is configured,
//! and is stored as text with its time. Carries the specification's "Analysis result" and the row "Analysis" of the decisions.
//! Nothing is ordered here, and no figure comes from a model: it only words what was computed.

pub(crate) mod api;
mod assess;
mod config;
mod desk;
mod history;
mod language_model;
mod metrics;
pub mod model;
pub(crate) mod pages;
mod payload;
pub mod report;
mod result;
pub(crate) mod search;
mod service;
mod store;
mod terms;
mod text;
mod work;

pub(crate) use assess::{Shop, assess};
pub use config::{Config, LanguageModel};
pub use desk::Desk;
pub use history::{Pace, paces};
pub(crate) use payload::webhook;
pub use result::{Analysis, AnalysisRecord, Provenance, Source, Summary};
pub use service::{
    Phase, Standing, Subject, analyse_now, ask, latest, list, newest, read, records, standing,
    subject, waiting,
};
pub(crate) use store::history::subjects;
pub use store::latest_suggestion;
pub use terms::{RestockTerms, terms_read, terms_set};
pub(crate) use text::reason;
pub(crate) use work::run;
pub use work::{Step, step, step_of};

use db::{Error, Timestamp, Tx};

use crate::State;

/// Makes due again what dead replicas were working on, and wakes the worker; how much that was.
///
/// # Errors
///
/// Faults of the store.
pub async fn release_dead(state: &State) -> Result<u64, Error> {
    let now = state.clock.now();
    let release = async move |tx: &mut Tx| {
        let requests = store::queue::release_dead(tx, now).await?;
        Ok::<_, Error>(requests + store::shop::release_dead(tx, now).await?)
    };
    let released = state.db.write(release).await?;
    state.analysis.bell.notify_one();
    Ok(released)
}

/// Asks for a product's analysis, in the transaction that left it low: one statement, and nothing while one waits or runs already.
///
/// # Errors
///
/// Faults of the store.
pub async fn request(tx: &mut Tx, product: i64, now: Timestamp) -> Result<(), Error> {
    store::queue::insert(tx, product, now).await
}

/// Withdraws the request for a product's analysis that nobody works on yet.
///
/// # Errors
///
/// Faults of the store.
pub async fn withdraw(tx: &mut Tx, product: i64) -> Result<(), Error> {
    store::queue::withdraw(tx, product).await
}
