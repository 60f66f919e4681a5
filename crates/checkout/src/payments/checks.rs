//! Database jobs of the reconciler and of the service's start: which payments, attempts and refunds are due for a check.

use db::{Db, Timestamp};

use super::idempotency::KEPT;
use super::store::{self, Attempt, AttemptStep, Due, Known, OpenRefund};
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
pub(crate) async fn due_payments(state: &State, due: Due) -> Result<Vec<Known>, db::Error> {
    state
        .db
        .read(async move |conn| store::due_payments(conn, &due).await)
        .await
}

/// Open refunds whose check is due.
pub(crate) async fn due_refunds(state: &State, due: Due) -> Result<Vec<OpenRefund>, db::Error> {
    let now = state.clock.now();
    state
        .db
        .read(async move |conn| store::due_refunds(conn, now, &due).await)
        .await
}

/// When the next check of any kind is due.
pub(crate) async fn next_due(state: &State) -> Result<Option<Timestamp>, db::Error> {
    state
        .db
        .read(async move |conn| {
            let attempt = store::next_attempt_due(conn).await?;
            let payment = store::next_payment_due(conn).await?;
            let refund = store::next_refund_due(conn).await?;
            Ok([attempt, payment, refund].into_iter().flatten().min())
        })
        .await
}

/// Claims an attempt's check, seen due at `seen`, by setting step and next check; false when another process did.
pub(crate) async fn postpone_attempt(
    state: &State,
    attempt: &Attempt,
    seen: Timestamp,
    step: AttemptStep,
    check_at: Option<Timestamp>,
) -> Result<bool, db::Error> {
    let id = attempt.id;
    state
        .db
        .write(async move |tx| store::postpone_attempt(tx, id, step, seen, check_at).await)
        .await
}

/// Claims an open payment's check; false when another process did.
pub(crate) async fn postpone_payment(state: &State, known: &Known) -> Result<bool, db::Error> {
    let next = super::settle::next_check(known.standing.state, known.checks + 1, state.clock.now());
    let (row, seen) = (known.row, known.check_at);
    state
        .db
        .write(async move |tx| store::postpone_payment(tx, row, seen, next).await)
        .await
}

/// Claims an open refund's check, seen due at `seen`, by setting step and next check; false when another process did.
pub(crate) async fn postpone_refund(
    state: &State,
    refund: &OpenRefund,
    seen: Timestamp,
    step: AttemptStep,
    check_at: Option<Timestamp>,
) -> Result<bool, db::Error> {
    let id = refund.id;
    state
        .db
        .write(async move |tx| store::postpone_refund(tx, id, step, seen, check_at).await)
        .await
}

/// Claims the check of a refund that the provider works on, by setting the next; false when another process did.
pub(crate) async fn postpone_made_refund(
    state: &State,
    refund: &OpenRefund,
    check_at: Option<Timestamp>,
) -> Result<bool, db::Error> {
    let (id, seen) = (refund.id, refund.check_at);
    state
        .db
        .write(async move |tx| store::follow_refund(tx, id, seen, None, check_at).await)
        .await
}

/// How many payments' outcomes are unknown.
pub(crate) async fn unknown_count(state: &State) -> Result<i64, db::Error> {
    let now = state.clock.now();
    state
        .db
        .read(async move |conn| store::unknown_attempts(conn, now).await)
        .await
}

/// Erases keys, answers and the data of attempts that never ended, once they have been kept long enough.
pub(crate) async fn erase_old(state: &State) -> Result<u64, db::Error> {
    let kept_since = state.clock.now() - KEPT;
    let mut erased = 0;
    loop {
        let batch = state
            .db
            .write(async move |tx| {
                let attempts = store::erase_old_answers(tx, kept_since).await?;
                Ok::<_, db::Error>(
                    attempts + store::erase_old_refund_answers(tx, kept_since).await?,
                )
            })
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

/// Frees every attempt and refund that no registered replica works on; how many.
pub(crate) async fn release_dead(db: &Db) -> Result<u64, db::Error> {
    db.write(async move |tx| {
        let attempts = store::release_dead_attempts(tx).await?;
        Ok(attempts + store::release_dead_refunds(tx).await?)
    })
    .await
}
