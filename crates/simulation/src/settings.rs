//! Settings that the service, its callers and the provider share.

use std::time::Duration;

/// The key of the merchant.
pub(crate) const API_KEY: &str = "balcao_merchant_of_the_simulation";
/// Signs the provider's notifications.
pub(crate) const WEBHOOK_SECRET: &str = "a secret of the simulation";
/// The time that a call to the provider may take.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(15);
/// For how long callers repeat a key. The service keeps an answer for 72 hours; clocks differ by
/// minutes.
pub(crate) const KEY_LIFETIME: Duration = Duration::from_secs(71 * 3600);
/// The detail that refuses to pay or to cancel an order that is paid.
pub(crate) const ALREADY_PAID: &str = "Order already paid";
