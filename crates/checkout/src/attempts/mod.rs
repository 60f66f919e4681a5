//! Attempts: requests to the provider for payments, refunds and cancellations, and their results.
//!
//! Payments and refunds are created in the same way. The intent is stored with the idempotency keys
//! of its calls. One run at a time works on the attempt under a lease (`claim`). The attempt ends
//! only when it is certain what the provider has done (`finality`). `settle` records every report
//! of the provider, so the state machine of payments is applied in one place.

mod adopt;
mod cancel;
mod claim;
mod create;
mod end;
mod events;
mod finality;
mod finding;
mod model;
mod outcome;
mod refund;
mod settle;
pub(crate) mod store;

use db::{Db, Error, Timestamp, Tx};

use crate::idempotency::RETENTION;

pub(crate) use adopt::{adopt_or_record, complete};
pub(crate) use cancel::{CancelError, cancel};
pub(crate) use claim::{begun_at, patience};
pub(crate) use create::{CreateError, CreationResponse, OrderRef, Requester, create};
pub(crate) use end::RunError;
pub(crate) use finality::is_certain;
pub use finding::Finding;
pub(crate) use model::{Attempt, Instruction};
pub(crate) use outcome::{CreationOutcome, find_outcome};
pub(crate) use refund::{RefundError, check_refund, record, refund};
pub(crate) use settle::{ReportOutcome, next_check};

/// The number of attempts whose outcome is unknown.
pub(crate) async fn unknown_count(db: &Db, now: Timestamp) -> Result<i64, Error> {
    db.read(async move |conn| store::unknown_attempts(conn, now).await)
        .await
}

/// Erases personal data, idempotency keys and stored responses that have expired. Attempts of
/// unknown outcome remain.
pub(crate) async fn erase_expired(db: &Db, now: Timestamp) -> Result<(), Error> {
    let erase = async move |tx: &mut Tx| store::erase_expired(tx, now - RETENTION, now).await;
    while db.write::<_, Error, _>(erase).await? > 0 {}
    Ok(())
}

/// Releases the leases of every attempt whose replica is no longer registered. Returns how many.
pub(crate) async fn release_dead(db: &Db) -> Result<u64, Error> {
    db.write(async move |tx| store::release_dead_attempts(tx).await)
        .await
}
