//! The configuration of analyses. The program fills it in from its settings.

use std::time::Duration;

use http::Uri;
use web::{http_client::ApiKey, rate::Rates};

use super::model::Terms;

/// The settings of analyses.
#[derive(Debug, Clone)]
pub struct AnalysisConfig {
    /// The supply terms of products without their own.
    pub terms: Terms,
    /// The most days of history that are used.
    pub window_days: i64,
    /// After an analysis, sales of the product request no other one for so long.
    pub cooldown: Duration,
    /// Whether a report on the whole shop is made every week.
    pub weekly_report: bool,
    /// The language model that writes texts; without one they are computed.
    pub language_model: Option<LanguageModel>,
}

/// A service with the interface of chat completions.
#[derive(Debug, Clone)]
pub struct LanguageModel {
    /// Its address, up to and without `/chat/completions`.
    pub base_url: Uri,
    /// Its key, where it requires one.
    pub api_key: Option<ApiKey>,
    /// The model to ask.
    pub model: String,
    /// The longest time of one call, from connecting to the end of its answer.
    pub timeout: Duration,
    /// The rate limits of calls, for all replicas together.
    pub quota: Rates,
}

impl Default for AnalysisConfig {
    fn default() -> Self {
        Self {
            terms: Terms {
                lead_time: 7.0,
                lead_time_deviation: 0.0,
                service_level: 95.0,
                review_interval: 7.0,
                pack_multiple: 1,
            },
            window_days: 90,
            cooldown: Duration::from_secs(6 * 60 * 60),
            weekly_report: false,
            language_model: None,
        }
    }
}
