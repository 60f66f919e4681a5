//! Statements about calls to the language model: counted before they are made, so that neither a crash nor another replica makes one too many.

use db::{Error, Timestamp, Tx};

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) outcome: &'static str,
    pub(crate) duration_ms: i64,
    pub(crate) prompt_tokens: Option<i64>,
    pub(crate) completion_tokens: Option<i64>,
}

/// Makes the others wait who count, until this transaction ends.
pub(crate) async fn queue_up(tx: &mut Tx) -> Result<(), Error> {
    tx.execute("UPDATE model_quota SET counted = counted + 1", &[])
        .await?;
    Ok(())
}

/// Calls since a moment.
pub(crate) async fn since(tx: &mut Tx, from: Timestamp) -> Result<i64, Error> {
    let sql = "SELECT count(*) FROM model_calls WHERE called_at > $1";
    tx.one(sql, &[&from], |row| row.get(0)).await
}

/// Writes a call that is about to be made.
pub(crate) async fn begin(tx: &mut Tx, now: Timestamp) -> Result<i64, Error> {
    let sql = "INSERT INTO model_calls (called_at, outcome) VALUES ($1, 'made') RETURNING id";
    tx.one(sql, &[&now], |row| row.get(0)).await
}

/// Writes how a call went.
pub(crate) async fn end(tx: &mut Tx, id: i64, ended: Ended) -> Result<(), Error> {
    tx.execute(
        "UPDATE model_calls SET outcome = $2, duration_ms = $3, prompt_tokens = $4, completion_tokens = $5 WHERE id = $1",
        &[&id, &ended.outcome, &ended.duration_ms, &ended.prompt_tokens, &ended.completion_tokens],
    )
    .await?;
    Ok(())
}

/// Removes calls that no window counts any more.
pub(crate) async fn forget(tx: &mut Tx, before: Timestamp) -> Result<u64, Error> {
    let sql = "DELETE FROM model_calls WHERE called_at < $1";
    tx.execute(sql, &[&before]).await
}
