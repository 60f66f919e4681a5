//! Statements about calls to the language model. They are counted before they are made, so that
//! neither a crash nor another replica exceeds the quota.

use db::{Error, Timestamp, Tx};

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallOutcome {
    pub(crate) outcome: &'static str,
    pub(crate) duration_ms: i64,
    pub(crate) prompt_tokens: Option<i64>,
    pub(crate) completion_tokens: Option<i64>,
}

/// Locks the quota until this transaction ends.
pub(crate) async fn lock_quota(tx: &mut Tx) -> Result<(), Error> {
    tx.execute("UPDATE model_quota SET counted = counted + 1", &[])
        .await?;
    Ok(())
}

/// How many calls there were since `from`.
pub(crate) async fn count_since(tx: &mut Tx, from: Timestamp) -> Result<i64, Error> {
    let sql = "SELECT count(*) FROM model_calls WHERE called_at > $1";
    tx.one(sql, &[&from], |row| row.get(0)).await
}

/// Inserts a call before it is made.
pub(crate) async fn begin(tx: &mut Tx, now: Timestamp) -> Result<i64, Error> {
    let sql = "INSERT INTO model_calls (called_at, outcome) VALUES ($1, 'made') RETURNING id";
    tx.one(sql, &[&now], |row| row.get(0)).await
}

/// Stores the outcome of a call.
pub(crate) async fn end(tx: &mut Tx, id: i64, call: CallOutcome) -> Result<(), Error> {
    tx.execute(
        "UPDATE model_calls SET outcome = $2, duration_ms = $3, prompt_tokens = $4, completion_tokens = $5 WHERE id = $1",
        &[&id, &call.outcome, &call.duration_ms, &call.prompt_tokens, &call.completion_tokens],
    )
    .await?;
    Ok(())
}

/// Deletes calls that are older than every window of the quota.
pub(crate) async fn delete_before(tx: &mut Tx, before: Timestamp) -> Result<u64, Error> {
    let sql = "DELETE FROM model_calls WHERE called_at < $1";
    tx.execute(sql, &[&before]).await
}
