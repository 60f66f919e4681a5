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
    /// The record's id. Later records have larger ids.
    pub id: i64,
    /// Plain text over several lines, in the language of `BALCAO_INVENTORY_LANGUAGE`.
    pub result: String,
    /// When the analysis was made.
    #[serde(serialize_with = "json::time")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

resource! {
    /// An analysis as shown in lists.
    pub struct AnalysisSummary, AnalysisSummaryInput {
        id: i64 = id().hidden(),
        created_at: Timestamp = time("Criado em", "Created at").listed_for_staff(),
        // `None` for a report on the whole shop.
        product: Option<i64> = integer("Produto", "Product", 1, i64::MAX).listed_for_staff().read_from("product_id"),
        source: Source = chosen("Origem", "Source").listed_for_staff(),
        suggested_quantity: Option<i64> = integer("Quantidade sugerida", "Suggested quantity", 0, i64::MAX).listed_for_staff(),
        result: String = token("Resultado", "Result").listed_for_staff(),
    }
}

/// An analysis with its provenance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// The fields that lists show.
    pub summary: AnalysisSummary,
    /// How the analysis was created.
    pub provenance: Provenance,
    /// The computed figures, as JSON.
    pub figures: String,
}

/// How an analysis was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Who wrote the text.
    pub source: Source,
    /// The outcome of calling the model, or why it was not called.
    pub outcome: String,
    /// The language of the text.
    pub language: String,
    /// The model that was called.
    pub model: Option<String>,
    /// The version of the prompt.
    pub prompt_version: Option<String>,
    /// SHA-256 of the prompt's version and the inputs of the computation.
    pub inputs_digest: String,
    /// The duration of the computation, including calls to the model.
    pub duration_ms: i64,
    /// Prompt tokens, as the model's server counts them.
    pub prompt_tokens: Option<i64>,
    /// Completion tokens, as the model's server counts them.
    pub completion_tokens: Option<i64>,
    /// The finish reason of the model's last answer.
    pub finish_reason: Option<String>,
    /// The user who requested the analysis.
    pub asked_by: Option<String>,
}

/// The fields of an analysis that only the administration shows.
pub(crate) const FIELDS: [&Field; 2] = [
    &text::<String>("Resultado do modelo", "Model outcome", MAX_TEXT).named("outcome"),
    &text::<String>("Modelo de linguagem", "Language model", MAX_TEXT).named("language_model"),
];
const MAX_TEXT: usize = 200;

choice! {
    /// The author of an analysis' text. The figures are computed in both cases.
    pub enum Source {
        /// The text was computed.
        Formula = "formula", ("fórmulas", "formulas");
        /// A language model wrote the text.
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

impl Analysis {
    /// The quantity in stock that the advice is for. `None` for a report on the whole shop.
    pub(crate) fn quantity(&self) -> Option<i64> {
        let figures: serde_json::Value = serde_json::from_str(&self.figures).ok()?;
        figures.get("quantity")?.as_i64()
    }
}

impl AnalysisSummary {
    /// The language of the text. Our own texts are recognised by their first word; all others are
    /// in the shop's language.
    pub fn language(&self, of_shop: Locale) -> Locale {
        let is_ours = |word| self.result.starts_with(word);
        match (is_ours(RESTOCK.0), is_ours(RESTOCK.1)) {
            (true, _) => Locale::PtBr,
            (_, true) => Locale::En,
            _ => of_shop,
        }
    }

    /// The first line of the text: the subject.
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
