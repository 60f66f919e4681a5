//! Statements about results and their provenance.

use db::{Conn, Error, Query, Timestamp, Tx};
use resource::{Record as _, sql};

use super::super::result::{Analysis, AnalysisSummary, Provenance};

/// An analysis to be stored.
#[derive(Debug, Clone)]
pub(crate) struct NewAnalysis {
    pub(crate) product: Option<i64>,
    pub(crate) result: String,
    pub(crate) provenance: Provenance,
    pub(crate) suggested_quantity: Option<i64>,
    pub(crate) figures: String,
}

/// The quantity that a product's newest analysis suggests to order. `None` without an analysis, or
/// with too little history.
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

/// How many analyses there are, of all products or of one.
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

/// The newest analyses, of all products or of one, with the text that is searched: the product's
/// title above the result.
pub(crate) async fn texts(
    conn: &mut Conn,
    product: Option<i64>,
    limit: i64,
) -> Result<Vec<(i64, Option<i64>, String)>, Error> {
    let mut query = Query::new(
        "SELECT page.id, page.product_id, p.title, page.result FROM (SELECT id, product_id, result FROM analyses",
    );
    if let Some(product) = product {
        query.push(" WHERE product_id = ").bind(product);
    }
    query
        .push(" ORDER BY id DESC LIMIT ")
        .bind(limit)
        .push(") AS page LEFT JOIN products AS p ON p.id = page.product_id ORDER BY page.id DESC");
    conn.all_of(&query, |row| {
        let (title, result): (Option<String>, String) = (row.get(2)?, row.get(3)?);
        let text = format!("{}\n{result}", title.unwrap_or_default());
        Ok((row.get(0)?, row.get(1)?, text))
    })
    .await
}

/// The ids of the newest analyses of some products.
pub(crate) async fn newest_of(
    conn: &mut Conn,
    products: &[i64],
    limit: i64,
) -> Result<Vec<i64>, Error> {
    if products.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Query::new("SELECT id FROM (");
    for (place, product) in products.iter().enumerate() {
        query
            .push(if place == 0 { "" } else { " UNION ALL " })
            .push("SELECT id FROM (SELECT id FROM analyses WHERE product_id = ")
            .bind(*product)
            .push(" ORDER BY id DESC LIMIT ")
            .bind(limit)
            .push(") AS of_product");
    }
    query.push(") AS found ORDER BY id DESC LIMIT ").bind(limit);
    conn.all_of(&query, |row| row.get(0)).await
}

/// The analyses of these ids, newest first.
pub(crate) async fn of_ids(conn: &mut Conn, ids: &[i64]) -> Result<Vec<AnalysisSummary>, Error> {
    let mut query = summaries();
    query.push(" WHERE id").any_of(ids.iter().copied());
    query.push(" ORDER BY id DESC");
    conn.all_of(&query, AnalysisSummary::from_row).await
}

/// One page of analyses, newest first.
pub(crate) async fn page(
    conn: &mut Conn,
    product: Option<i64>,
    limit: i64,
    offset: i64,
) -> Result<Vec<AnalysisSummary>, Error> {
    let mut query = summaries();
    if let Some(product) = product {
        query.push(" WHERE product_id = ").bind(product);
    }
    query.push(" ORDER BY id DESC LIMIT ").bind(limit);
    query.push(" OFFSET ").bind(offset);
    conn.all_of(&query, AnalysisSummary::from_row).await
}

/// The beginning of a query for analyses as lists show them.
fn summaries() -> Query {
    sql::select(AnalysisSummary::FIELDS, "analyses", "a")
}

/// One analysis with its provenance.
pub(crate) async fn find(conn: &mut Conn, id: i64) -> Result<Option<Analysis>, Error> {
    let mut query = Query::new("SELECT ");
    sql::push_columns(&mut query, AnalysisSummary::FIELDS, "a");
    query.push(
        ", outcome, language, model, prompt_version, inputs_digest, duration_ms, prompt_tokens, completion_tokens, finish_reason, asked_by,
         figures FROM analyses AS a WHERE a.id = ",
    );
    conn.optional_of(query.bind(id), |row| {
        let summary = AnalysisSummary::from_row(row)?;
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
        Ok(Analysis {
            summary,
            provenance,
            figures: row.get(16)?,
        })
    })
    .await
}

/// The id and time of a product's newest analysis.
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
