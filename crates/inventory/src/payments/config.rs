//! The checkout whose orders and payments the pages show. The program fills it in from its
//! settings.

use std::time::Duration;

use http::Uri;
use web::http_client::ApiKey;

/// The longest time of a read.
const READ_TIMEOUT: Duration = Duration::from_secs(8);
/// The longest time of a change, for which checkout may have to call the provider. It is shorter
/// than the page's own time, so that the page can say that the outcome is unknown.
const WRITE_TIMEOUT: Duration = Duration::from_secs(25);

/// A checkout and the merchant's key for it.
#[derive(Debug, Clone)]
pub struct CheckoutConfig {
    /// Its address, up to and without `/orders/`.
    pub base_url: Uri,
    /// The merchant's key.
    pub key: ApiKey,
    /// The longest that reading may take.
    pub reading: Duration,
    /// The longest that a change may take.
    pub writing: Duration,
}

impl CheckoutConfig {
    /// The checkout at this address, with the default timeouts.
    #[must_use]
    pub const fn new(base_url: Uri, key: ApiKey) -> Self {
        Self {
            base_url,
            key,
            reading: READ_TIMEOUT,
            writing: WRITE_TIMEOUT,
        }
    }
}
