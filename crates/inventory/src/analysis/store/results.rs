//! SQL for stored analyses and their provenance.

use db::{Conn, Error, Query, Timestamp, Tx};
use resource::{Record as _, sql};

use super::super::result::{Analysis, AnalysisSummary, Provenance};
use crate::listing::{
    Columns, Condition, Index, List, SearchedText, Selection, Table, Test, TextSearch, by_id,
    text_of,
};

#[derive(Debug, Clone)]
pub(crate) struct NewAnalysis {
    pub(crate) product: Option<i64>,
    pub(crate) result: String,
    pub(crate) provenance: Provenance,
    pub(crate) suggested_quantity: Option<i64>,
    pub(crate) figures: String,
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

static ANALYSES: Table = Table {
    name: "analyses",
    alias: "a",
    indexes: &[
        Index::primary(None, "id"),
        Index::within("product", "id", "analyses_product"),
    ],
    ..Table::OWN
};

static LIST: List<AnalysisSummary> = List::described(&ANALYSES);

/// The searched text: the product's title, a line break, the result.
static TEXTS: List<SearchedText> = List::of(
    &ANALYSES,
    AnalysisSummary::FIELDS,
    Columns::Text(
        "a.created_at, a.id, a.product_id, COALESCE(p.title, '') || '\n' || a.result",
        " LEFT JOIN products AS p ON p.id = a.product_id",
    ),
    |row| {
        let (_, product, text) = text_of(row)?;
        // Analyses are ordered by id alone, so the time is constant.
        Ok(((Timestamp::from_micros(0), row.get(1)?), product, text))
    },
);

pub(crate) static SEARCH: TextSearch = TextSearch {
    texts: &TEXTS,
    most_read: 2_000,
    most_found: 1_000,
};

/// Selects analyses, newest first, of all products or of one.
pub(crate) fn selection(product: Option<i64>) -> Selection<AnalysisSummary> {
    let product = product.map(Test::is).into_iter();
    let product = product.map(|test| Condition::new("product", "product_id", test));
    Selection {
        list: &LIST,
        conditions: product.collect(),
        order: by_id(true),
    }
}

pub(crate) async fn newest(
    conn: &mut Conn,
    product: i64,
) -> Result<Option<AnalysisSummary>, Error> {
    Ok(selection(Some(product)).first(conn, 1).await?.pop())
}

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
