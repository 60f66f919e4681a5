//! The browser of an earlier login, recognised by an encrypted cookie.

use serde::{Deserialize, Serialize};
use web::{Seal, cookie::HostOnly};

use crate::{
    State,
    accounts::session::{cookies, lifetimes::BROWSER_LIFETIME},
};

/// The owner that the cookie is sealed for. It is constant, because the user is not known before
/// the cookie is opened.
const NO_OWNER: i64 = 0;

/// A browser and the last user who logged in with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Browser {
    pub(super) user: i64,
    /// Unique among the browsers of that user.
    pub(super) id: String,
    /// In microseconds since 1970.
    expires_at: i64,
}

impl Browser {
    /// The browser of a request, unless it has expired.
    pub(crate) fn of(state: &State, cookies: HostOnly<'_>) -> Option<Self> {
        let text = seal(state).open(NO_OWNER, cookies::browser(cookies)?)?;
        let browser: Self = serde_json::from_str(&text).ok()?;
        (state.clock.now().micros() < browser.expires_at).then_some(browser)
    }

    /// The new cookie after a login. The same user's browser keeps its id, and so its counter.
    pub(crate) fn remember(state: &State, cookies: HostOnly<'_>, user: i64) -> String {
        let before = Self::of(state, cookies).filter(|browser| browser.user == user);
        let browser = Self {
            user,
            id: before.map_or_else(|| state.random.uuid().to_string(), |browser| browser.id),
            expires_at: (state.clock.now() + BROWSER_LIFETIME).micros(),
        };
        let text = serde_json::to_string(&browser).unwrap_or_default();
        seal(state).close(&state.random, NO_OWNER, &text)
    }
}

fn seal(state: &State) -> Seal {
    Seal::new(state.token_key.derive("balcao/known-browser/1"))
}
