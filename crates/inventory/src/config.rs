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
    /// Under which address people and programs reach the service, when it is configured.
    pub public_url: Option<PublicUrl>,
    /// Whose forwarding headers count.
    pub trusted_proxies: Proxies,
    /// Whether browsers shall keep to HTTPS for every host below the service's own, too.
    pub hsts_subdomains: bool,
    /// Obtaining and checking tokens, and logging in: per client address.
    pub rate_limit_auth: Rates,
    /// Reading: per user.
    pub rate_limit_read: Rates,
    /// Writing: per user.
    pub rate_limit_write: Rates,
    /// Records a page when a client does not say.
    pub page_size: u64,
    /// The most records of a page.
    pub max_page_size: u64,
    /// Lifetime of an access token.
    pub access_token_lifetime: Duration,
    /// Lifetime of a refresh token.
    pub refresh_token_lifetime: Duration,
    /// The longest that a session lasts, however often it is used.
    pub session_lifetime: Duration,
    /// Whose accounts must have a second factor.
    pub second_factor: MandatoryFor,
    /// The threshold of products without one of their own.
    pub low_stock_threshold: i64,
    /// When a low-stock alert is sent.
    pub low_stock_alert: AlertMode,
    /// How events reach endpoints.
    pub webhooks: Webhooks,
    /// What signs the events of paid orders; where there is none, their address does not exist.
    pub orders_secrets: Vec<Secret>,
    /// How people are told by mail, when they are.
    pub mail: Option<Mail>,
    /// The language of texts that no reader asks for: analyses and mails.
    pub language: Locale,
    /// How products are analysed.
    pub analysis: analysis::AnalysisConfig,
    /// The checkout whose orders and payments the pages show, when there is one.
    pub checkout: Option<payments::CheckoutConfig>,
    /// Where files of the moment are put: exports on their way to their readers.
    pub scratch: PathBuf,
    /// The largest body, in bytes.
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
