//! The configuration of the service. The program fills it in from its settings.

use std::{path::PathBuf, time::Duration};

use web::{
    client::{Proxies, PublicUrl},
    locale::Locale,
    rate::Rates,
};

use crate::{
    accounts::second_factor::MandatoryFor,
    analysis,
    events::{Mail, Secret, Webhooks},
    payments,
    work::{AlertMode, Policy},
};

/// The settings of the inventory service.
#[derive(Debug, Clone)]
pub struct Config {
    /// The public base URL of the service, if it is configured.
    pub public_url: Option<PublicUrl>,
    /// The proxies whose forwarding headers are trusted.
    pub trusted_proxies: Proxies,
    /// Whether the HSTS header includes subdomains.
    pub hsts_subdomains: bool,
    /// The rate limits of logins and token requests, per client address.
    pub rate_limit_auth: Rates,
    /// The rate limits of reads, per user.
    pub rate_limit_read: Rates,
    /// The rate limits of writes, per user.
    pub rate_limit_write: Rates,
    /// The default number of records per page.
    pub page_size: u64,
    /// The maximum number of records per page.
    pub max_page_size: u64,
    /// The lifetime of an access token.
    pub access_token_lifetime: Duration,
    /// The lifetime of a refresh token.
    pub refresh_token_lifetime: Duration,
    /// The maximum lifetime of a session, even if it is in use.
    pub session_lifetime: Duration,
    /// The users who must have a second factor.
    pub second_factor: MandatoryFor,
    /// The threshold of products that have none of their own.
    pub low_stock_threshold: i64,
    /// When a low-stock alert is sent.
    pub low_stock_alert: AlertMode,
    /// The delivery of events to webhook endpoints.
    pub webhooks: Webhooks,
    /// The secrets that sign events of paid orders. Without one, the endpoint for these events does
    /// not exist.
    pub orders_secrets: Vec<Secret>,
    /// The mail settings, if mail is enabled.
    pub mail: Option<Mail>,
    /// The language of texts that are not for a particular user: analyses and mails.
    pub language: Locale,
    /// The settings of analyses.
    pub analysis: analysis::AnalysisConfig,
    /// The checkout service whose orders and payments the pages show, if there is one.
    pub checkout: Option<payments::CheckoutConfig>,
    /// The directory for temporary files, such as exports that are being downloaded.
    pub scratch: PathBuf,
    /// The maximum size of a request body, in bytes.
    pub max_body: usize,
}

impl Default for Config {
    fn default() -> Self {
        use web::rate::{Period, Rate};
        Self {
            public_url: None,
            trusted_proxies: Proxies::default(),
            hsts_subdomains: false,
            rate_limit_auth: Rate::new(10, Period::Minute).into(),
            rate_limit_read: Rate::new(100, Period::Minute).into(),
            rate_limit_write: Rate::new(50, Period::Minute).into(),
            page_size: 10,
            max_page_size: 100,
            access_token_lifetime: Duration::from_secs(24 * 60 * 60),
            refresh_token_lifetime: Duration::from_secs(7 * 24 * 60 * 60),
            session_lifetime: Duration::from_secs(30 * 24 * 60 * 60),
            second_factor: MandatoryFor::default(),
            low_stock_threshold: 10,
            low_stock_alert: AlertMode::default(),
            webhooks: Webhooks::default(),
            orders_secrets: Vec::new(),
            mail: None,
            language: Locale::default(),
            analysis: analysis::AnalysisConfig::default(),
            checkout: None,
            scratch: PathBuf::from("."),
            max_body: 1024 * 1024,
        }
    }
}

impl From<&Config> for Policy {
    fn from(config: &Config) -> Self {
        Self {
            threshold: config.low_stock_threshold,
            alert: config.low_stock_alert,
            mails: config.mail.is_some(),
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::from(&Config::default())
    }
}
