//! Settings shared by the service, its callers and the provider.

use std::time::Duration;

/// The merchant's API key.
pub(crate) const API_KEY: &str = "balcao_merchant_of_the_simulation";
/// The secret that signs the provider's notifications.
pub(crate) const WEBHOOK_SECRET: &str = "a secret of the simulation";
/// The timeout of a call to the provider.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(15);
/// How long callers retry with a key. The service stores a response for 72 hours; clocks differ by
/// minutes.
pub(crate) const KEY_LIFETIME: Duration = Duration::from_secs(71 * 3600);
/// The `detail` when a paid order is to be paid or canceled.
pub(crate) const ALREADY_PAID: &str = "Order already paid";
