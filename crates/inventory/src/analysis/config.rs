//! The configuration of analyses. The program fills it in from its settings.

use std::{fmt, time::Duration};

use http::Uri;
use web::rate::Rates;

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

/// What proves to the service who we are. Shown by nothing.
#[derive(Clone)]
pub struct ApiKey(http::HeaderValue);

/// The text cannot stand in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is one or more visible ASCII characters")]
pub struct ApiKeyError;

impl ApiKey {
    /// Takes a key as it was issued.
    ///
    /// # Errors
    ///
    /// When it is empty or has other than visible ASCII characters.
    pub fn parse(text: &str) -> Result<Self, ApiKeyError> {
        let key = text.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ApiKeyError);
        }
        let mut value =
            http::HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| ApiKeyError)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    /// The value of the header `Authorization`, marked as one not to be shown.
    pub(super) fn header(&self) -> http::HeaderValue {
        self.0.clone()
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey(****)")
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_shown_by_nothing() {
        let key = ApiKey::parse(" sk-hush ").unwrap();
        assert_eq!(key.header().to_str().unwrap(), "Bearer sk-hush");
        let config = LanguageModel {
            base_url: "http://127.0.0.1:1/v1".parse().unwrap(),
            api_key: Some(key.clone()),
            model: "m".to_owned(),
            timeout: Duration::from_secs(1),
            quota: "60/hour".parse().unwrap(),
        };
        assert!(!format!("{config:?} {:?}", key.header()).contains("hush"));
        assert!(ApiKey::parse("two\nlines").is_err() && ApiKey::parse("").is_err());
    }
}
