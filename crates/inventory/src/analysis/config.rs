//! The configuration of analyses. The program fills it in from its settings.

use std::time::Duration;

use http::Uri;
use web::{http_client::ApiKey, rate::Rates};

use super::model::Terms;

/// The settings of analyses.
#[derive(Debug, Clone)]
pub struct Config {
    /// What is assumed of the supply of products of which nothing else is said.
    pub terms: Terms,
    /// The most days of history that are looked at.
    pub window_days: i64,
    /// After an analysis, sales of a product ask for no other one for so long.
    pub cooldown: Duration,
    /// Whether the whole shop is reported on every week.
    pub weekly_report: bool,
    /// Who words the results; none: they are the computed text.
    pub language_model: Option<LanguageModel>,
}

/// A service that speaks chat completions.
#[derive(Debug, Clone)]
pub struct LanguageModel {
    /// Its address, up to and without `/chat/completions`.
    pub base_url: Uri,
    /// Its key, where it wants one.
    pub api_key: Option<ApiKey>,
    /// The model to ask.
    pub model: String,
    /// The longest that one call may take, connecting and reading its whole answer included.
    pub timeout: Duration,
    /// How many calls may be made in which time, by all replicas together.
    pub quota: Rates,
}

impl Default for Config {
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
