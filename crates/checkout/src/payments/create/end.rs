//! How a run completes its attempt, and the answer of one that has ended.

use super::{CreateError, Created, Work};
use crate::app::State;
use crate::payments::attempt::give_up_unread;
use crate::payments::model::Intent;
use crate::payments::settle::{self, CompletedAttempt, SettleError};
use crate::payments::store::{self, Attempt, Source};
use crate::provider::{Failure, ProviderPayment};

pub(super) async fn finish(
    work: Work<'_>,
    intent: Intent,
    payment: &ProviderPayment,
) -> Result<Created, CreateError> {
    let state = work.state;
    let completed = CompletedAttempt {
        attempt: work.run.attempt.id,
        reference: work.instruction.reference.clone(),
        order_id: work.instruction.order_id,
        intent,
        corrects: None,
    };
    match settle::settle_made(state, completed, payment, Source::Creation).await {
        Ok((payment, body)) => {
            let status_token = state.status_token(&payment.id);
            Ok(Created {
                body,
                replayed: false,
                status_token,
            })
        }
        Err(SettleError::Word(refusal)) => {
            give_up_unread(state, &work.run, &refusal.to_string()).await?;
            Err(CreateError::UnknownStatus)
        }
        Err(SettleError::Mixed) => contradicted(&work, "its id is another payment's").await,
        Err(SettleError::Amount) => {
            contradicted(&work, "its amount is not the one asked for").await
        }
        Err(SettleError::Database(error)) => Err(error.into()),
        Err(SettleError::Shape(_)) => {
            Err(CreateError::Fault("a payment could not be written as JSON"))
        }
    }
}

/// The provider's answer cannot be that to this attempt, which stays open: something may have been charged.
async fn contradicted(work: &Work<'_>, reason: &'static str) -> Result<Created, CreateError> {
    give_up_unread(work.state, &work.run, reason).await?;
    Err(CreateError::Provider {
        failure: Failure::contradiction(reason),
        may_be_charged: true,
    })
}

/// The answer of an attempt that has ended.
pub(super) async fn replay(state: &State, attempt: Attempt) -> Result<Created, CreateError> {
    let response = attempt.response.unwrap_or_default();
    let Some(row) = attempt.payment else {
        let status = attempt
            .response_status
            .and_then(|status| u16::try_from(status).ok())
            .unwrap_or(502);
        return Err(CreateError::Repeated {
            status,
            detail: response,
        });
    };
    let payment = state
        .db
        .read(async move |conn| store::find_by_row(conn, row).await)
        .await?;
    let payment = payment.ok_or(CreateError::Fault("an attempt's payment is missing"))?;
    Ok(Created {
        body: response,
        replayed: true,
        status_token: state.status_token(&payment.id),
    })
}
