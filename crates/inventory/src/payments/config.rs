//! The connection to the checkout whose orders and payments the pages show. The program builds it
//! from its settings.

use std::time::Duration;

use http::Uri;
use web::http_client::ApiKey;

/// The default timeout of a read.
const READ_TIMEOUT: Duration = Duration::from_secs(8);
/// The default timeout of a write, for which checkout may call the provider. It is shorter than the
/// timeout of pages, so that a page can still report an unknown outcome.
const WRITE_TIMEOUT: Duration = Duration::from_secs(25);

/// The address of a checkout, and the merchant's API key.
#[derive(Debug, Clone)]
pub struct CheckoutConfig {
    /// The base URL, to which `/orders/` is appended.
    pub base_url: Uri,
    /// The merchant's API key.
    pub key: ApiKey,
    /// The timeout of reads.
    pub reading: Duration,
    /// The timeout of writes.
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
