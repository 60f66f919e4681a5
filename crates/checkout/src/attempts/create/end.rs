//! Completes the attempt of a run, and builds the response of an attempt that has ended.

use super::{CreateError, CreationResponse, PaymentTask};
use crate::attempts::end::{RunError, give_up_unread};
use crate::attempts::model::{Attempt, Instruction, PaymentInstruction};
use crate::attempts::settle::{SettleError, settle_payment};
use crate::payments::{self, Intent, Source};
use crate::provider::{Failure, ProviderPayment};
use crate::state::State;

pub(super) async fn finish(
    task: PaymentTask<'_>,
    intent: Intent,
    payment: &ProviderPayment,
) -> Result<CreationResponse, CreateError> {
    let state = task.state;
    // The stored intent may have lost its personal data since.
    let instruction = PaymentInstruction {
        intent,
        ..task.instruction
    };
    let attempt = Attempt {
        instruction: Instruction::Payment(Box::new(instruction)),
        ..task.run.attempt.clone()
    };
    match settle_payment(state, attempt, payment, Source::Creation).await {
        Ok((payment, body)) => {
            let status_token = state.status_token(&payment.id);
            Ok(CreationResponse {
                body,
                replayed: false,
                status_token,
            })
        }
        Err(SettleError::Status(refusal)) => {
            give_up_unread(state, &task.run, &refusal.to_string()).await?;
            Err(CreateError::UnknownStatus)
        }
        // The attempt stays open: something may have been charged.
        Err(SettleError::Contradiction(reason)) => {
            give_up_unread(state, &task.run, reason).await?;
            Err(RunError::unknown(Failure::contradiction(reason)).into())
        }
        Err(SettleError::Database(error)) => Err(error.into()),
        Err(SettleError::Shape(_)) => {
            Err(CreateError::Fault("a payment could not be written as JSON"))
        }
    }
}

/// The stored response of an attempt that has ended.
pub(super) async fn replay(
    state: &State,
    attempt: Attempt,
) -> Result<CreationResponse, CreateError> {
    let Some(row) = attempt.payment else {
        return Err(RunError::repeated(attempt).into());
    };
    let payment = state
        .db
        .read(async move |conn| payments::find_by_row(conn, row).await)
        .await?;
    let payment = payment.ok_or(CreateError::Fault("an attempt's payment is missing"))?;
    Ok(CreationResponse {
        body: attempt.response.unwrap_or_default(),
        replayed: true,
        status_token: state.status_token(&payment.id),
    })
}
