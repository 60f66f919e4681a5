//! How long a session, the ticket between the two steps of a login, and a known browser last.

use std::time::Duration;

/// The time without a visit after which a remembered session ends.
pub const LIFETIME: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// The time without a visit after which any other session ends. It also ends with the browser.
pub const SHORT_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);
/// How long the user has to enter a code.
pub(crate) const TICKET_LIFETIME: Duration = Duration::from_secs(5 * 60);
/// How long a browser is remembered after a login.
pub(crate) const BROWSER_LIFETIME: Duration = Duration::from_secs(180 * 24 * 60 * 60);
