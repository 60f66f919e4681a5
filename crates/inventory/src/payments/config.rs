//! Which checkout the pages show. The program fills it in from its settings.

use std::time::Duration;

use http::Uri;
use web::http_client::ApiKey;

/// The longest that a page waits for what it reads.
const READING: Duration = Duration::from_secs(8);
/// The longest that a page waits for what it asks checkout to do, which may have to ask the provider first. It ends before the page's own
/// time does, so that the page can say that the outcome is unknown.
const WRITING: Duration = Duration::from_secs(25);

/// A checkout, and the merchant's key that opens it.
#[derive(Debug, Clone)]
pub struct Config {
    /// Its address, up to and without `/orders/`.
    pub base_url: Uri,
    /// The merchant's key.
    pub key: ApiKey,
    /// The longest that reading may take.
    pub reading: Duration,
    /// The longest that a change may take.
    pub writing: Duration,
}

impl Config {
    /// The checkout at this address, with the usual patience.
    #[must_use]
    pub const fn new(base_url: Uri, key: ApiKey) -> Self {
        Self {
            base_url,
            key,
            reading: READING,
            writing: WRITING,
        }
    }
}
