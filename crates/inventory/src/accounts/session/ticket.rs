//! The ticket between the two steps of a login: the password was correct, the code is still
//! missing. It is kept in an encrypted cookie, so abandoned logins leave no rows.

use serde::{Deserialize, Serialize};

use super::lifetimes::TICKET_LIFETIME;
use crate::{
    State,
    accounts::{sealed, service::Proven},
};

const PURPOSE: &str = "balcao/login-step/1";
/// The longest address in a ticket, in bytes. Browsers drop a cookie of more than 4,096.
const MAX_NEXT: usize = 2_000;

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
}

impl Ticket {
    /// A ticket that expires [`TICKET_LIFETIME`] from now, encrypted for the cookie.
    pub(crate) fn closed(state: &State, proven: Proven, remembered: bool, next: &str) -> String {
        let next = if next.len() <= MAX_NEXT { next } else { "/" };
        let ticket = Self {
            user: proven.user,
            password: proven.password,
            remembered,
            next: next.to_owned(),
        };
        sealed::close(state, PURPOSE, &ticket, TICKET_LIFETIME)
    }

    /// Decrypts the ticket of a cookie. `None` if it is invalid or expired.
    pub(crate) fn open(state: &State, sealed: &str) -> Option<Self> {
        sealed::open(state, PURPOSE, sealed)
    }
}
