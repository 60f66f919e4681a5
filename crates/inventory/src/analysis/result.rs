//! A stored analysis.

use db::Timestamp;
use resource::{Field, choice, chosen, id, integer, resource, text, time, token};
use serde::Serialize;
use utoipa::ToSchema;
use web::locale::Locale;

use super::text::RESTOCK;
use crate::rest::json;

/// Findings and advice as text. The computed figures are in it, whether a model wrote the rest or
/// not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Analysis)]
pub struct AnalysisRecord {
    /// Its id; later ones have larger ones.
    pub id: i64,
    /// Plain text over several lines, in the language of `BALCAO_INVENTORY_LANGUAGE`.
    pub result: String,
    /// When it was made.
    #[serde(serialize_with = "json::time")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

resource! {
    /// An analysis as lists show it.
    pub struct AnalysisSummary, AnalysisSummaryInput {
        id: i64 = id().hidden(),
        created_at: Timestamp = time("Criado em", "Created at").listed_for_staff(),
        // A report on the whole shop has no product.
        product: Option<i64> = integer("Produto", "Product", 1, i64::MAX).listed_for_staff().read_from("product_id"),
        source: Source = chosen("Origem", "Source").listed_for_staff(),
        suggested_quantity: Option<i64> = integer("Quantidade sugerida", "Suggested quantity", 0, i64::MAX).listed_for_staff(),
        result: String = token("Resultado", "Result").listed_for_staff(),
    }
}

/// An analysis with its provenance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// As lists show it.
    pub summary: AnalysisSummary,
    /// Where it came from.
    pub provenance: Provenance,
    /// The computed figures, as JSON.
    pub figures: String,
}

/// Where an analysis came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Who wrote the text.
    pub source: Source,
    /// The outcome of calling the model, or why it was not called.
    pub outcome: String,
    /// The language of its text.
    pub language: String,
    /// The model that was called.
    pub model: Option<String>,
    /// The version of the prompt.
    pub prompt_version: Option<String>,
    /// SHA-256 of the inputs of the computation and of the prompt.
    pub inputs_digest: String,
    /// The duration of the whole computation.
    pub duration_ms: i64,
    /// As the model counts them.
    pub prompt_tokens: Option<i64>,
    /// As the model counts them.
    pub completion_tokens: Option<i64>,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// The person who requested it.
    pub asked_by: Option<String>,
}

/// The fields of an analysis that only the administration shows.
pub(crate) const FIELDS: [&Field; 2] = [
    &text::<String>("Resultado do modelo", "Model outcome", MAX_TEXT).named("outcome"),
    &text::<String>("Modelo de linguagem", "Language model", MAX_TEXT).named("language_model"),
];
const MAX_TEXT: usize = 200;

choice! {
    /// Who wrote the text of an analysis. The figures are computed either way.
    pub enum Source {
        /// The program.
        Formula = "formula", ("fórmulas", "formulas");
        /// A language model.
        Model = "model", ("modelo de linguagem", "language model");
    }
}

impl From<AnalysisSummary> for AnalysisRecord {
    fn from(summary: AnalysisSummary) -> Self {
        Self {
            id: summary.id,
            result: summary.result,
            created_at: summary.created_at,
        }
    }
}

impl AnalysisSummary {
    /// The language of its text, by the first word of our own texts; other texts are in the shop's
    /// language.
    pub fn language(&self, of_shop: Locale) -> Locale {
        let is_ours = |word| self.result.starts_with(word);
        match (is_ours(RESTOCK.0), is_ours(RESTOCK.1)) {
            (true, _) => Locale::PtBr,
            (_, true) => Locale::En,
            _ => of_shop,
        }
    }

    /// The first line of the text: what it is about.
    pub fn heading(&self) -> &str {
        self.result.lines().next().unwrap_or_default()
    }

    /// The advice: the first line after the heading.
    pub fn gist(&self) -> &str {
        let lines = self.result.lines().skip(1);
        lines
            .map(str::trim)
            .find(|line| !line.is_empty())
            .unwrap_or_default()
    }
}
