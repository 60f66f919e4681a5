//! SQL for calls to the language model. A call is counted before it is made, so that the quota
//! holds after a crash and across replicas.

use db::{Error, Timestamp, Tx};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallOutcome {
    pub(crate) outcome: &'static str,
    pub(crate) duration_ms: i64,
    pub(crate) prompt_tokens: Option<i64>,
    pub(crate) completion_tokens: Option<i64>,
}

pub(crate) async fn lock_quota(tx: &mut Tx) -> Result<(), Error> {
    let sql = "UPDATE model_quota SET counted = counted + 1";
    tx.execute(sql, &[]).await.map(drop)
}

pub(crate) async fn count_since(tx: &mut Tx, from: Timestamp) -> Result<i64, Error> {
    let sql = "SELECT count(*) FROM model_calls WHERE called_at > $1";
    tx.one(sql, &[&from], |row| row.get(0)).await
}

/// Inserts a call. Returns its id.
pub(crate) async fn begin(tx: &mut Tx, now: Timestamp) -> Result<i64, Error> {
    let sql = "INSERT INTO model_calls (called_at, outcome) VALUES ($1, 'made') RETURNING id";
    tx.one(sql, &[&now], |row| row.get(0)).await
}

pub(crate) async fn end(tx: &mut Tx, id: i64, call: CallOutcome) -> Result<(), Error> {
    let sql = "UPDATE model_calls SET outcome = $2, duration_ms = $3, prompt_tokens = $4, completion_tokens = $5 WHERE id = $1";
    tx.execute(
        sql,
        &[
            &id,
            &call.outcome,
            &call.duration_ms,
            &call.prompt_tokens,
            &call.completion_tokens,
        ],
    )
    .await
    .map(drop)
}

/// Deletes calls from before a time, which must be outside of every window of the quota.
pub(crate) async fn delete_before(tx: &mut Tx, before: Timestamp) -> Result<u64, Error> {
    let sql = "DELETE FROM model_calls WHERE called_at < $1";
    tx.execute(sql, &[&before]).await
}
