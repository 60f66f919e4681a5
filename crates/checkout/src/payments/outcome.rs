//! What the creation behind a caller's idempotency key has come to, found without repeating it.

use super::attempt::holds_key;
use super::idempotency::IdempotencyKey;
use super::state::PaymentState;
use super::store::{self, Attempt, AttemptStep};
use crate::app::State;

/// What is known of a creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The payment was made.
    Created {
        /// The provider's id.
        id: String,
        status: PaymentState,
        status_detail: String,
    },
    /// No payment was made, and none will be unless the request is sent again.
    NotCharged,
    /// A call is running, or its answer was lost: the payment may have been made.
    Unknown,
}

/// The outcome of the creation that a key stands for; none when it stands for none.
pub(crate) async fn find_outcome(
    state: &State,
    key: IdempotencyKey,
) -> Result<Option<Outcome>, db::Error> {
    let now = state.clock.now();
    let find = async move |conn: &mut db::Conn| {
        let found = store::find_attempt_by_key(conn, &key).await?;
        let Some(attempt) = found.filter(|attempt| holds_key(attempt, now)) else {
            return Ok(None);
        };
        let Some(row) = attempt.payment else {
            return Ok(Some(without_payment(&attempt, now)));
        };
        let payment = store::find_by_row(conn, row).await?;
        Ok(payment.map(|payment| Outcome::Created {
            id: payment.id,
            status: payment.state,
            status_detail: payment.status_detail,
        }))
    };
    state.db.read::<_, db::Error, _>(find).await
}

fn without_payment(attempt: &Attempt, now: db::Timestamp) -> Outcome {
    let is_running = attempt.leased_until.is_some_and(|until| until > now);
    match attempt.step {
        AttemptStep::Refused | AttemptStep::Closed => Outcome::NotCharged,
        AttemptStep::Started if !is_running => Outcome::NotCharged,
        AttemptStep::Started | AttemptStep::Sending | AttemptStep::Finished => Outcome::Unknown,
    }
}
