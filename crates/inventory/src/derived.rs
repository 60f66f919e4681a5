//! What follows from the records: the index of titles and the exact totals. Every change keeps them
//! exact; whoever writes records in bulk, without this service, builds them anew.

use db::{Error, Tx};

use crate::{aggregates, search};

/// Builds everything anew that follows from the records, in the transaction that wrote them.
pub async fn rebuild(tx: &mut Tx) -> Result<(), Error> {
    aggregates::move_version(tx).await?;
    search::rebuild(tx).await?;
    aggregates::rebuild(tx).await
}
