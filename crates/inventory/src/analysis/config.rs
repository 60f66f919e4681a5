//! The configuration of analyses. The program fills it in from its settings.

use std::time::Duration;

use http::Uri;
use web::{http_client::ApiKey, rate::Rates};

use super::model::Terms;

/// The settings of analyses.
#[derive(Debug, Clone)]
pub struct AnalysisConfig {
    /// Supply terms of products that have none of their own.
    pub terms: Terms,
    /// The length of the history that forecasts use, in days.
    pub window_days: i64,
    /// How long after an analysis further sales of the same product do not request another one.
    pub cooldown: Duration,
    /// Whether a report on the whole shop is created every week.
    pub weekly_report: bool,
    /// The language model that writes texts. Without a model, the texts come from templates.
    pub language_model: Option<LanguageModel>,
}

/// A server with the chat completions API.
#[derive(Debug, Clone)]
pub struct LanguageModel {
    /// The base URL, without `/chat/completions`.
    pub base_url: Uri,
    /// The API key, if the server requires one.
    pub api_key: Option<ApiKey>,
    /// The name of the model.
    pub model: String,
    /// The timeout of one call, from connecting to the end of the response.
    pub timeout: Duration,
    /// The rate limits of calls, shared by all replicas.
    pub quota: Rates,
}

impl Default for AnalysisConfig {
    fn default() -> Self {
        Self {
            terms: Terms::default(),
            window_days: 90,
            cooldown: Duration::from_secs(6 * 60 * 60),
            weekly_report: false,
            language_model: None,
        }
    }
}
