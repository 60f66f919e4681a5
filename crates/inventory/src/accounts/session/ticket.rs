//! A login between its two steps: the password was right, and the code is still to come. It is kept
//! encrypted in a cookie of a few minutes, so logins that nobody finishes leave nothing behind.

use std::time::Duration;

use db::Timestamp;
use serde::{Deserialize, Serialize};
use web::Seal;

use crate::State;

/// As long as a code may be looked for.
pub(crate) const LIFETIME: Duration = Duration::from_secs(5 * 60);
/// Tickets belong to nobody who is known before they are opened.
const NOBODY: i64 = 0;

/// A login in its second step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ticket {
    /// Whose password was right.
    pub(crate) user: i64,
    /// Whether the session is to outlive the browser.
    pub(crate) remembered: bool,
    /// Where the login leads.
    pub(crate) next: String,
    /// The end of its lifetime, in microseconds since 1970.
    expires_at: i64,
}

impl Ticket {
    /// A ticket from now on.
    pub(crate) fn new(user: i64, remembered: bool, next: &str, now: Timestamp) -> Self {
        Self {
            user,
            remembered,
            next: next.to_owned(),
            expires_at: (now + LIFETIME).micros(),
        }
    }

    /// As the cookie holds it.
    pub(crate) fn close(&self, state: &State) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        seal(state).close(&state.random, NOBODY, &text)
    }

    /// The ticket of a cookie, in its time.
    pub(crate) fn open(state: &State, sealed: &str) -> Option<Self> {
        let text = seal(state).open(NOBODY, sealed)?;
        let ticket: Self = serde_json::from_str(&text).ok()?;
        (state.clock.now().micros() < ticket.expires_at).then_some(ticket)
    }
}

fn seal(state: &State) -> Seal {
    Seal::new(state.token_key.derive("balcao/login-step/1"))
}
