//! Database access for the reconciler, its commands and the start of the service: which payments
//! and attempts are due for a check, which outcomes are unknown, and what has expired.

use std::time::Duration;

use db::{Conn, Db, Error, Timestamp};

use super::model::Attempt;
use super::settle::next_check;
use super::store::{self, Sweep};
use crate::idempotency::RETENTION;
use crate::payments::store as payments;
use crate::payments::{DueQuery, StoredPayment};

/// Attempts whose check is due and that no run has leased.
pub(crate) async fn due_attempts(
    db: &Db,
    due: DueQuery,
    now: Timestamp,
) -> Result<Vec<Attempt>, Error> {
    db.read(async move |conn| store::due_attempts(conn, now, &due).await)
        .await
}

/// Open payments whose check is due.
pub(crate) async fn due_payments(db: &Db, due: DueQuery) -> Result<Vec<StoredPayment>, Error> {
    db.read(async move |conn| payments::due_payments(conn, &due).await)
        .await
}

/// When the next check of any kind is due.
pub(crate) async fn next_due(db: &Db) -> Result<Option<Timestamp>, Error> {
    db.read(async move |conn: &mut Conn| {
        let attempt = store::next_attempt_due(conn).await?;
        let payment = payments::next_payment_due(conn).await?;
        let sweep = store::find_sweep(conn).await?.map(|sweep| sweep.due);
        Ok([attempt, payment, sweep].into_iter().flatten().min())
    })
    .await
}

/// Claims the check of an attempt by moving its due time from `seen` to the next one. Returns false
/// if another process claimed it first.
pub(crate) async fn postpone_attempt(
    db: &Db,
    id: i64,
    seen: Timestamp,
    next: Option<Timestamp>,
) -> Result<bool, Error> {
    db.write(async move |tx| store::postpone_attempt(tx, id, seen, next).await)
        .await
}

/// Stores the provider's last answer about an attempt. `next` is the due time that this process set
/// when it claimed the check.
pub(crate) async fn record_answer(
    db: &Db,
    id: i64,
    next: Timestamp,
    answer: String,
) -> Result<(), Error> {
    db.write(async move |tx| store::update_answer(tx, id, next, &answer).await)
        .await
        .map(drop)
}

/// Closes an attempt that is certain to have had no effect. `next` is the due time that this
/// process set when it claimed the check. Returns false if a run has acquired the attempt since.
pub(crate) async fn close_attempt(
    db: &Db,
    id: i64,
    next: Timestamp,
    now: Timestamp,
) -> Result<bool, Error> {
    db.write(async move |tx| store::close_attempt(tx, id, next, now).await)
        .await
}

/// Claims the check of an open payment. Returns false if another process claimed it first.
pub(crate) async fn postpone_payment(
    db: &Db,
    stored: &StoredPayment,
    now: Timestamp,
) -> Result<bool, Error> {
    let next = next_check(stored.snapshot.state, stored.checks + 1, now);
    let (row, seen) = (stored.row, stored.check_at);
    db.write(async move |tx| payments::postpone_payment(tx, row, seen, next).await)
        .await
}

/// The position of the search for changed payments. The first search begins `before` earlier than
/// the oldest stored payment.
pub(crate) async fn find_or_begin_sweep(
    db: &Db,
    before: Duration,
    now: Timestamp,
) -> Result<Sweep, Error> {
    if let Some(sweep) = db.read(store::find_sweep).await? {
        return Ok(sweep);
    }
    db.write(async move |tx| {
        let oldest = store::oldest_payment(tx).await?.unwrap_or(now);
        store::begin_sweeps(tx, oldest.min(now) - before, now).await?;
        let sweep = store::find_sweep(tx).await?;
        sweep.ok_or_else(|| Error::retry("the row of the sweeps vanished"))
    })
    .await
}

/// Claims the next turn of the search, seen due at `seen`. Returns false if another process did.
pub(crate) async fn claim_sweep(db: &Db, seen: Timestamp, next: Timestamp) -> Result<bool, Error> {
    db.write(async move |tx| store::claim_sweep(tx, seen, next).await)
        .await
}

/// Stores the position of the search.
pub(crate) async fn save_sweep(db: &Db, until: Timestamp, offset: i64) -> Result<(), Error> {
    db.write(async move |tx| store::save_sweep(tx, until, offset).await)
        .await
        .map(drop)
}

/// Every attempt of unknown outcome, the oldest first.
pub(crate) async fn open_attempts(db: &Db) -> Result<Vec<Attempt>, Error> {
    db.read(store::open_attempts).await
}

/// The number of attempts whose outcome is unknown.
pub(crate) async fn unknown_count(db: &Db, now: Timestamp) -> Result<i64, Error> {
    db.read(async move |conn| store::unknown_attempts(conn, now).await)
        .await
}

/// Erases personal data, idempotency keys and stored responses that have expired. Attempts of
/// unknown outcome remain.
pub(crate) async fn erase_expired(db: &Db, now: Timestamp) -> Result<(), Error> {
    let erase = async move |tx: &mut db::Tx| store::erase_expired(tx, now - RETENTION, now).await;
    while db.write::<_, Error, _>(erase).await? > 0 {}
    Ok(())
}

/// Releases the leases of every attempt whose replica is no longer registered. Returns how many.
pub(crate) async fn release_dead(db: &Db) -> Result<u64, Error> {
    db.write(async move |tx| store::release_dead_attempts(tx).await)
        .await
}
