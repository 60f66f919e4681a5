//! The ticket between the two steps of a login: the password was correct, the code is still
//! missing. It is kept in an encrypted cookie, so abandoned logins leave no rows.

use db::Timestamp;
use serde::{Deserialize, Serialize};
use web::Seal;

use super::lifetimes::TICKET_LIFETIME;
use crate::{State, accounts::service::Proven};

/// The owner that tickets are sealed for. It is constant, because the user is not known before a
/// ticket is opened.
const NOBODY: i64 = 0;

/// The data of a login between its two steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ticket {
    pub(crate) user: i64,
    /// The digest of the password's hash: a new password makes the ticket invalid.
    pub(crate) password: String,
    /// Whether the session outlives the browser.
    pub(crate) remembered: bool,
    /// The page to open after the login.
    pub(crate) next: String,
    /// When the ticket expires, in microseconds since 1970.
    expires_at: i64,
}

impl Ticket {
    /// A ticket that expires [`TICKET_LIFETIME`] from `now`.
    pub(crate) fn new(proven: Proven, remembered: bool, next: &str, now: Timestamp) -> Self {
        Self {
            user: proven.account.caller.id,
            password: proven.password,
            remembered,
            next: next.to_owned(),
            expires_at: (now + TICKET_LIFETIME).micros(),
        }
    }

    /// Encrypts the ticket for the cookie.
    pub(crate) fn close(&self, state: &State) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        seal(state).close(&state.random, NOBODY, &text)
    }

    /// Decrypts the ticket of a cookie. `None` if it is invalid or expired.
    pub(crate) fn open(state: &State, sealed: &str) -> Option<Self> {
        let text = seal(state).open(NOBODY, sealed)?;
        let ticket: Self = serde_json::from_str(&text).ok()?;
        (state.clock.now().micros() < ticket.expires_at).then_some(ticket)
    }
}

fn seal(state: &State) -> Seal {
    Seal::new(state.token_key.derive("balcao/login-step/1"))
}
