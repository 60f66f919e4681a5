//! Deletes rows whose time is over, also in a shop where nobody logs in or uploads.

use std::time::Duration;

use db::Tx;

use crate::{State, accounts, idempotency, uploads};

const PURGE_EVERY: Duration = Duration::from_secs(60 * 60);

/// Deletes expired rows every hour until the service stops. Nothing is deleted at the start: a
/// machine may boot with a wrong clock that is soon corrected, and an idempotency key that is
/// deleted too early allows a second booking.
pub(crate) async fn run(state: State) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(PURGE_EVERY) => {}
            () = state.shutdown.begun() => return,
        }
        if let Err(error) = purge_expired(&state).await {
            tracing::warn!(%error, "deleting expired sessions, attempts and files failed, retrying in an hour");
        }
    }
}

/// Deletes expired sessions, revoked tokens, failed logins, addresses, idempotency keys and files
/// that nobody confirmed.
pub async fn purge_expired(state: &State) -> Result<(), db::Error> {
    let now = state.clock.now();
    let purge = async move |tx: &mut Tx| {
        accounts::forget_expired(tx, now).await?;
        idempotency::forget_expired(tx, now).await?;
        uploads::forget_expired(tx, now).await
    };
    state.db.write(purge).await
}
