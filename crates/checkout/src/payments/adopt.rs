//! A payment of the provider that reaches us otherwise than in the answer to its creation: one we know, one whose
//! answer was lost, or one that is not ours.

use super::model::Word;
use super::refund;
use super::settle::{CompletedAttempt, Recorded, SettleError, settle_made, settle_word};
use super::store::{self, Attempt, AttemptStep, Source};
use crate::app::State;
use crate::provider::ProviderPayment;

/// What became of such a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Adopted {
    /// It is known; what became of its word.
    Recorded(Recorded),
    /// It completes an attempt whose answer was lost.
    Made,
    /// Its creation is still at work.
    Busy,
    /// It contradicts the attempt that it belongs to, which stays open.
    Contradiction(&'static str),
}

/// Records the word of a payment, or completes the attempt that it belongs to.
///
/// # Errors
/// When the database fails.
pub(crate) async fn adopt_or_record(
    state: &State,
    payment: &ProviderPayment,
    source: Source,
) -> Result<Adopted, db::Error> {
    let recorded = record(state, payment, source).await?;
    if recorded != Recorded::Unknown {
        return Ok(Adopted::Recorded(recorded));
    }
    let Some(reference) = payment.external_reference.clone() else {
        return Ok(Adopted::Recorded(Recorded::Unknown));
    };
    let find =
        async move |conn: &mut db::Conn| store::find_attempt_by_reference(conn, &reference).await;
    match state.db.read(find).await? {
        Some(attempt)
            if attempt
                .leased_until
                .is_some_and(|until| until > state.clock.now()) =>
        {
            Ok(Adopted::Busy)
        }
        Some(attempt) => complete(state, &attempt, payment, source).await,
        None => Ok(Adopted::Recorded(Recorded::Unknown)),
    }
}

/// Records what the provider says of a known payment and of the refunds of it.
pub(crate) async fn record(
    state: &State,
    payment: &ProviderPayment,
    source: Source,
) -> Result<Recorded, db::Error> {
    let recorded = settle_word(state, &payment.id, Word::from(payment), source).await?;
    if recorded != Recorded::Unknown {
        refund::correct(state, payment, source).await?;
    }
    Ok(recorded)
}

/// Completes an attempt with the payment that the provider made for it, whatever was thought of the attempt before.
pub(crate) async fn complete(
    state: &State,
    attempt: &Attempt,
    payment: &ProviderPayment,
    source: Source,
) -> Result<Adopted, db::Error> {
    let instruction = attempt.payment_instruction()?;
    let is_ended = matches!(attempt.step, AttemptStep::Refused | AttemptStep::Closed);
    let completed = CompletedAttempt {
        attempt: attempt.id,
        reference: instruction.reference.clone(),
        order_id: instruction.order_id,
        intent: instruction.intent.clone(),
        corrects: is_ended.then_some(attempt.step),
    };
    match settle_made(state, completed, payment, source).await {
        Ok(_) => Ok(Adopted::Made),
        Err(SettleError::Database(error)) => Err(error),
        Err(SettleError::Mixed) => Ok(Adopted::Contradiction("its id is another payment's")),
        Err(SettleError::Amount) => Ok(Adopted::Contradiction(
            "its amount is not the one asked for",
        )),
        // A status that nobody knows, for now: asked for again later.
        Err(SettleError::Word(_) | SettleError::Shape(_)) => Ok(Adopted::Busy),
    }
}
