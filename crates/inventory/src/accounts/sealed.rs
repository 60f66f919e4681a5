//! Encrypted data of a cookie, which expires.

use std::time::Duration;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use web::Seal;

use crate::State;

/// The owner that the data is sealed for. It is constant, because the user is not known before the
/// data is opened.
const NOBODY: i64 = 0;

#[derive(Serialize, Deserialize)]
struct Expiring<T> {
    #[serde(flatten)]
    data: T,
    /// In microseconds since 1970.
    expires_at: i64,
}

/// Encrypts the data. What was closed for one purpose does not open for another.
pub(super) fn close(
    state: &State,
    purpose: &str,
    data: &impl Serialize,
    lifetime: Duration,
) -> String {
    let expires_at = (state.clock.now() + lifetime).micros();
    let text = serde_json::to_string(&Expiring { data, expires_at }).unwrap_or_default();
    seal(state, purpose).close(&state.random, NOBODY, &text)
}

/// Decrypts the data. `None` if it is invalid or expired.
pub(super) fn open<T: DeserializeOwned>(state: &State, purpose: &str, sealed: &str) -> Option<T> {
    let text = seal(state, purpose).open(NOBODY, sealed)?;
    let opened: Expiring<T> = serde_json::from_str(&text).ok()?;
    (state.clock.now().micros() < opened.expires_at).then_some(opened.data)
}

fn seal(state: &State, purpose: &str) -> Seal {
    Seal::new(state.token_key.derive(purpose))
}
