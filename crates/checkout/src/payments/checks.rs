//! Database jobs of the reconciler, of its commands and of the service's start: which payments and attempts are due for a check, what is
//! open, and what has been kept long enough.

use std::time::Duration;

use db::{Db, Timestamp};

use super::idempotency::KEPT;
use super::store::{self, Attempt, Due, StoredPayment, Sweep};
use crate::app::State;

/// Attempts whose check is due and on which nobody works.
pub(crate) async fn due_attempts(state: &State, due: Due) -> Result<Vec<Attempt>, db::Error> {
    let now = state.clock.now();
    state
        .db
        .read(async move |conn| store::due_attempts(conn, now, &due).await)
        .await
}

/// Open payments whose check is due.
pub(crate) async fn due_payments(state: &State, due: Due) -> Result<Vec<StoredPayment>, db::Error> {
    state
        .db
        .read(async move |conn| store::due_payments(conn, &due).await)
        .await
}

/// When the next check of any kind is due.
pub(crate) async fn next_due(state: &State) -> Result<Option<Timestamp>, db::Error> {
    state
        .db
        .read(async move |conn| {
            let attempt = store::next_attempt_due(conn).await?;
            let payment = store::next_payment_due(conn).await?;
            let sweep = store::find_sweep(conn).await?.map(|sweep| sweep.due);
            Ok([attempt, payment, sweep].into_iter().flatten().min())
        })
        .await
}

/// Claims an attempt's check, seen due at `seen`, by setting the next; false when another process did.
pub(crate) async fn postpone_attempt(
    state: &State,
    id: i64,
    seen: Timestamp,
    next: Option<Timestamp>,
) -> Result<bool, db::Error> {
    state
        .db
        .write(async move |tx| store::postpone_attempt(tx, id, seen, next).await)
        .await
}

/// Keeps what the provider said of an attempt whose check was claimed with `next`.
pub(crate) async fn note_answer(
    state: &State,
    id: i64,
    next: Timestamp,
    answer: String,
) -> Result<(), db::Error> {
    state
        .db
        .write(async move |tx| store::note_answer(tx, id, next, &answer).await)
        .await
        .map(drop)
}

/// Closes an attempt whose check was claimed with `next`: it is certain that nothing came of it. False when it was taken up since.
pub(crate) async fn close_attempt(
    state: &State,
    id: i64,
    next: Timestamp,
) -> Result<bool, db::Error> {
    let now = state.clock.now();
    state
        .db
        .write(async move |tx| store::close_attempt(tx, id, next, now).await)
        .await
}

/// Claims an open payment's check; false when another process did.
pub(crate) async fn postpone_payment(
    state: &State,
    stored: &StoredPayment,
) -> Result<bool, db::Error> {
    let next =
        super::settle::next_check(stored.snapshot.state, stored.checks + 1, state.clock.now());
    let (row, seen) = (stored.row, stored.check_at);
    state
        .db
        .write(async move |tx| store::postpone_payment(tx, row, seen, next).await)
        .await
}

/// How far the provider's payments have been searched for changes; the search begins `before` the oldest payment that we know.
pub(crate) async fn sweep_from(state: &State, before: Duration) -> Result<Sweep, db::Error> {
    let now = state.clock.now();
    if let Some(sweep) = state.db.read(store::find_sweep).await? {
        return Ok(sweep);
    }
    state
        .db
        .write(async move |tx| {
            let oldest = store::oldest_payment(tx).await?.unwrap_or(now);
            store::begin_sweeps(tx, oldest.min(now) - before, now).await?;
            let sweep = store::find_sweep(tx).await?;
            sweep.ok_or_else(|| db::Error::retry("the row of the sweeps vanished"))
        })
        .await
}

/// Claims the turn of the search that was seen due at `seen`; false when another process did.
pub(crate) async fn claim_sweep(
    state: &State,
    seen: Timestamp,
    next: Timestamp,
) -> Result<bool, db::Error> {
    state
        .db
        .write(async move |tx| store::claim_sweep(tx, seen, next).await)
        .await
}

/// Keeps how far the search has come.
pub(crate) async fn save_sweep(
    state: &State,
    until: Timestamp,
    offset: i64,
) -> Result<(), db::Error> {
    state
        .db
        .write(async move |tx| store::save_sweep(tx, until, offset).await)
        .await
        .map(drop)
}

/// Every attempt of unknown outcome, the oldest first.
pub(crate) async fn open_attempts(db: &Db) -> Result<Vec<Attempt>, db::Error> {
    db.read(store::open_attempts).await
}

/// How many payments' outcomes are unknown.
pub(crate) async fn unknown_count(state: &State) -> Result<i64, db::Error> {
    let now = state.clock.now();
    state
        .db
        .read(async move |conn| store::unknown_attempts(conn, now).await)
        .await
}

/// Erases people's data, keys and answers that have been kept long enough. What is of unknown outcome stays known to be so.
pub(crate) async fn erase_expired(state: &State) -> Result<u64, db::Error> {
    let now = state.clock.now();
    let mut erased = 0;
    loop {
        let batch = state
            .db
            .write(async move |tx| store::erase_expired(tx, now - KEPT, now).await)
            .await?;
        erased += batch;
        if batch == 0 {
            return Ok(erased);
        }
    }
}

/// Keeps the proof of the secret, or compares it with the one that is kept.
pub(crate) async fn keep_proof(db: &Db, proof: String) -> Result<bool, db::Error> {
    db.write(async move |tx| Ok(store::keep_proof(tx, &proof).await? == proof))
        .await
}

/// Frees every attempt that no registered replica works on; how many.
pub(crate) async fn release_dead(db: &Db) -> Result<u64, db::Error> {
    db.write(async move |tx| store::release_dead_attempts(tx).await)
        .await
}
