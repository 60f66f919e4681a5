//! Finds the outcome of a creation by its idempotency key, without sending the request again.

use db::{Conn, Db, Error, Timestamp};

use super::claim::find_by_key;
use super::model::Attempt;
use crate::idempotency::IdempotencyKey;
use crate::payments::{self, AttemptStep, Payment};

/// The outcome of a creation, as far as it is known.
#[derive(Debug, Clone)]
pub(crate) enum CreationOutcome {
    Created(Box<Payment>),
    /// No payment was made, and none will be unless the request is sent again.
    NotCharged,
    /// A call is running, or its response was lost. The payment may have been made.
    Unknown,
}

/// The outcome of the creation with this idempotency key. `None` if no attempt has the key.
pub(crate) async fn find_outcome(
    db: &Db,
    key: IdempotencyKey,
    now: Timestamp,
) -> Result<Option<CreationOutcome>, Error> {
    let find = async move |conn: &mut Conn| {
        let Some(attempt) = find_by_key(conn, &key, now).await? else {
            return Ok(None);
        };
        let Some(row) = attempt.payment else {
            return Ok(Some(without_payment(&attempt, now)));
        };
        let payment = payments::find_by_row(conn, row).await?;
        Ok(payment.map(|payment| CreationOutcome::Created(Box::new(payment))))
    };
    db.read::<_, Error, _>(find).await
}

fn without_payment(attempt: &Attempt, now: Timestamp) -> CreationOutcome {
    match attempt.step {
        AttemptStep::Refused | AttemptStep::Closed => CreationOutcome::NotCharged,
        AttemptStep::Started if !attempt.is_leased(now) => CreationOutcome::NotCharged,
        AttemptStep::Started | AttemptStep::Sending | AttemptStep::Finished => {
            CreationOutcome::Unknown
        }
    }
}
