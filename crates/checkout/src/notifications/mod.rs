//! Notifications of the provider: signature, inbox, and reading the payment from the provider. Only
//! the payment that was read decides the state.
//!
//! A notification is stored and acknowledged at once. Its contents are not trusted. Duplicate, late
//! and reordered notifications change nothing. Implements the specification's "Events" and the row
//! "Notifications" of the decisions.

mod signature;
mod store;
mod worker;

use http::{HeaderMap, StatusCode};
use web::Error;
use web::rate::{self, Key, Period, Rate, Reserve};

use crate::errors::database;
use crate::payments::find_stored;
use crate::provider::is_provider_id;
use crate::state::State;

pub(crate) use worker::{delete_expired, run};
pub use worker::{inbox_length, work_once};

/// The rate limit of unsigned notifications, which are accepted only if no secret is configured.
const HINT_RATE: Rate = Rate::new(60, Period::Minute);

/// A notification as it arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Notification {
    /// The provider's payment id: `data.id` of the query, `id` of the older form, or `data.id` of
    /// the body.
    pub(crate) payment: Option<String>,
    /// `data.id` of the query exactly as sent, which the signature covers.
    pub(crate) signed_id: Option<String>,
    /// `type`, or `topic` of the older form.
    pub(crate) topic: Option<String>,
}

/// Verifies and stores a notification. The worker reads the payment later.
///
/// A notification of another topic is acknowledged and dropped, so that the provider does not
/// repeat it.
pub(crate) async fn receive(
    state: &State,
    headers: &HeaderMap,
    notification: Notification,
) -> Result<(), Error> {
    let secrets = &state.config.webhook_secrets;
    let signed = !secrets.is_empty();
    if signed && !signature::is_valid(secrets, notification.signed_id.as_deref(), headers) {
        state.metrics.notification("refused");
        return Err(Error::new(StatusCode::UNAUTHORIZED, "Invalid credentials"));
    }
    let topic = notification.topic.unwrap_or_else(|| "payment".to_owned());
    let payment = notification
        .payment
        .filter(|id| topic == "payment" && is_provider_id(id));
    let Some(payment) = payment else {
        state.metrics.notification("ignored");
        return Ok(());
    };
    if !signed {
        // Anyone may have sent it. It must name a stored payment, otherwise anyone could cause
        // arbitrary calls to the provider.
        let stored = find_stored(&state.db, &payment).await;
        if stored.map_err(database)?.is_none() {
            state.metrics.notification("ignored");
            return Ok(());
        }
        let quota = state
            .windows
            .take(
                &Key::new("checkout:hints", "all"),
                &[HINT_RATE],
                1,
                Reserve::Nothing,
            )
            .await;
        quota.map_err(|refusal| rate::too_many_requests(&refusal))?;
    }
    let now = state.clock.now();
    state
        .db
        .write(async move |tx| store::insert_notification(tx, &payment, signed, now).await)
        .await
        .map_err(database)?;
    state.metrics.notification("accepted");
    state.inbox.notify_one();
    Ok(())
}
