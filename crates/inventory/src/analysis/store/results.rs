//! The results, and where each came from.

use db::{Conn, Error, Row, Timestamp, Tx};

use super::super::result::{Analysis, Provenance, Source, Summary};

/// A result to be kept.
#[derive(Debug, Clone)]
pub(crate) struct NewAnalysis {
    pub(crate) product: Option<i64>,
    pub(crate) result: String,
    pub(crate) provenance: Provenance,
    pub(crate) suggested_quantity: Option<i64>,
    pub(crate) figures: String,
}

/// The quantity that a product's newest analysis suggests to order; none when there is no analysis, or too little history to tell.
///
/// # Errors
///
/// Faults of the store.
pub async fn latest_suggestion(conn: &mut Conn, product: i64) -> Result<Option<i64>, Error> {
    conn.optional(
        "SELECT suggested_quantity FROM analyses WHERE product_id = $1 ORDER BY id DESC LIMIT 1",
        &[&product],
        |row| row.get(0),
    )
    .await
    .map(Option::flatten)
}

pub(crate) async fn insert(tx: &mut Tx, new: &NewAnalysis, now: Timestamp) -> Result<i64, Error> {
    let provenance = &new.provenance;
    tx.one(
        "INSERT INTO analyses (product_id, result, created_at, source, outcome, language, model, prompt_version, inputs_digest,
                               duration_ms, prompt_tokens, completion_tokens, finish_reason, asked_by, suggested_quantity, figures)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) RETURNING id",
        &[
            &new.product,
            &new.result,
            &now,
            &provenance.source.name(),
            &provenance.outcome,
            &provenance.language,
            &provenance.model,
            &provenance.prompt_version,
            &provenance.inputs_digest,
            &provenance.duration_ms,
            &provenance.prompt_tokens,
            &provenance.completion_tokens,
            &provenance.finish_reason,
            &provenance.asked_by,
            &new.suggested_quantity,
            &new.figures,
        ],
        |row| row.get(0),
    )
    .await
}

/// How many there are; of one product when it is named.
pub(crate) async fn count(conn: &mut Conn, product: Option<i64>) -> Result<u64, Error> {
    let count: i64 = match product {
        None => {
            let sql = "SELECT count(*) FROM analyses";
            conn.one(sql, &[], |row| row.get(0)).await?
        }
        Some(product) => {
            let sql = "SELECT count(*) FROM analyses WHERE product_id = $1";
            conn.one(sql, &[&product], |row| row.get(0)).await?
        }
    };
    Ok(count.unsigned_abs())
}

/// One page, newest first.
pub(crate) async fn page(
    conn: &mut Conn,
    product: Option<i64>,
    limit: i64,
    offset: i64,
) -> Result<Vec<Summary>, Error> {
    match product {
        None => {
            let sql = "SELECT id, result, created_at, product_id, source, suggested_quantity FROM analyses
                       ORDER BY id DESC LIMIT $1 OFFSET $2";
            conn.all(sql, &[&limit, &offset], summary).await
        }
        Some(product) => {
            let sql = "SELECT id, result, created_at, product_id, source, suggested_quantity FROM analyses
                       WHERE product_id = $3 ORDER BY id DESC LIMIT $1 OFFSET $2";
            conn.all(sql, &[&limit, &offset, &product], summary).await
        }
    }
}

fn summary(row: &Row<'_>) -> Result<Summary, Error> {
    let source: String = row.get(4)?;
    Ok(Summary {
        id: row.get(0)?,
        result: row.get(1)?,
        created_at: row.get(2)?,
        product: row.get(3)?,
        source: Source::parse(&source),
        suggested_quantity: row.get(5)?,
    })
}

/// One, whole.
pub(crate) async fn find(conn: &mut Conn, id: i64) -> Result<Option<Analysis>, Error> {
    conn.optional(
        "SELECT id, result, created_at, product_id, source, suggested_quantity, outcome, language, model, prompt_version, inputs_digest,
                duration_ms, prompt_tokens, completion_tokens, finish_reason, asked_by, figures
         FROM analyses WHERE id = $1",
        &[&id],
        |row| {
            let summary = summary(row)?;
            let provenance = Provenance {
                source: summary.source,
                outcome: row.get(6)?,
                language: row.get(7)?,
                model: row.get(8)?,
                prompt_version: row.get(9)?,
                inputs_digest: row.get(10)?,
                duration_ms: row.get(11)?,
                prompt_tokens: row.get(12)?,
                completion_tokens: row.get(13)?,
                finish_reason: row.get(14)?,
                asked_by: row.get(15)?,
            };
            Ok(Analysis { summary, provenance, figures: row.get(16)? })
        },
    )
    .await
}

/// A product's newest: its id and when it was made.
pub(crate) async fn newest(
    conn: &mut Conn,
    product: i64,
) -> Result<Option<(i64, Timestamp)>, Error> {
    conn.optional(
        "SELECT id, created_at FROM analyses WHERE product_id = $1 ORDER BY id DESC LIMIT 1",
        &[&product],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}
