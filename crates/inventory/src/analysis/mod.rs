//! Restock analyses: what runs low is looked at by the formulas, worded by a language model where one is configured, and kept as a
//! record of text and time. Carries the specification's "Analysis result" and the row "Analysis" of the decisions.
//! Nothing is ordered here, and no figure comes from a model: it only words what was computed.

mod config;
pub mod model;
mod store;

pub use config::{ApiKey, ApiKeyError, Config, LanguageModel};
pub use store::latest_suggestion;

use db::{Error, Timestamp, Tx};

/// Asks for a product's analysis, in the transaction that left it low: one statement, and nothing while one waits or runs already.
///
/// # Errors
///
/// Faults of the store.
pub async fn request(tx: &mut Tx, product: i64, now: Timestamp) -> Result<(), Error> {
    store::queue::insert(tx, product, now).await
}
