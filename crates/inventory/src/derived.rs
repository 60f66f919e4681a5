//! Data derived from the records: the index of titles and the aggregates. Every change updates it.
//! A program that writes records in bulk, without this service, must rebuild it.

use db::{Error, Tx};

use crate::{aggregates, search};

/// Rebuilds all derived data, in the transaction that wrote the records.
pub async fn rebuild(tx: &mut Tx) -> Result<(), Error> {
    aggregates::note_change(tx, 0).await?;
    search::rebuild(tx).await?;
    aggregates::rebuild(tx).await
}
