//! The browser of an earlier login, recognised by an encrypted cookie.

use serde::{Deserialize, Serialize};
use web::cookie::HostOnly;

use crate::{
    State,
    accounts::{
        sealed,
        session::{cookies, lifetimes::BROWSER_LIFETIME},
    },
};

const PURPOSE: &str = "balcao/known-browser/1";

/// A browser and the last user who logged in with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Browser {
    pub(super) user: i64,
    /// Unique among the browsers of that user.
    pub(super) id: String,
}

impl Browser {
    /// The browser of a request, unless it has expired.
    pub(crate) fn of(state: &State, cookies: HostOnly<'_>) -> Option<Self> {
        sealed::open(state, PURPOSE, cookies::browser(cookies)?)
    }

    /// The new cookie after a login. The same user's browser keeps its id, and so its counter.
    pub(crate) fn remember(state: &State, cookies: HostOnly<'_>, user: i64) -> String {
        let before = Self::of(state, cookies).filter(|browser| browser.user == user);
        let browser = before.unwrap_or_else(|| Self {
            user,
            id: state.random.uuid().to_string(),
        });
        sealed::close(state, PURPOSE, &browser, BROWSER_LIFETIME)
    }
}
