//! How a run completes its attempt, or leaves it to the next run.

use super::calls::Stage;
use super::{CreateError, Created};
use crate::app::State;
use crate::payments::claim::Run;
use crate::payments::model::Intent;
use crate::payments::settle::{self, Made, SettleError};
use crate::payments::store::{self, Attempt, AttemptStep, Finish, Release, Source};
use crate::provider::{Failure, ProviderPayment};

pub(super) async fn finish(
    state: &State,
    run: Run,
    intent: Intent,
    payment: &ProviderPayment,
) -> Result<Created, CreateError> {
    let made = Made {
        attempt: run.id,
        reference: run.reference.as_str().to_owned(),
        intent,
    };
    match settle::settle_made(state, made, payment, Source::Creation).await {
        Ok((payment, body)) => {
            let status_token = state.status_token(&payment.id);
            Ok(Created {
                body,
                replayed: false,
                status_token,
            })
        }
        Err(SettleError::Word(_)) => {
            release(state, &run, AttemptStep::Sending).await?;
            Err(CreateError::UnknownStatus)
        }
        Err(SettleError::Mixed) => contradicted(state, &run, "its id is another payment's").await,
        Err(SettleError::Amount) => {
            contradicted(state, &run, "its amount is not the one asked for").await
        }
        Err(SettleError::Database(error)) => Err(error.into()),
        Err(SettleError::Shape(_)) => {
            Err(CreateError::Fault("a payment could not be written as JSON"))
        }
    }
}

/// The provider's answer cannot be that to this attempt, which stays open: something may have been charged.
async fn contradicted(
    state: &State,
    run: &Run,
    reason: &'static str,
) -> Result<Created, CreateError> {
    release(state, run, AttemptStep::Sending).await?;
    Err(CreateError::Provider {
        failure: Failure::contradiction(reason),
        may_be_charged: true,
    })
}

/// Leaves an attempt as its failure asks for: ended, forgotten, or open to a repetition. True when the provider may
/// have made the payment.
pub(super) async fn give_up(
    state: &State,
    run: &Run,
    failure: &Failure,
    stopped_at: Stage,
) -> Result<bool, db::Error> {
    if failure.is_final() && stopped_at != Stage::Asking {
        refuse(state, run, failure).await?;
        return Ok(false);
    }
    if run.is_fresh && matches!(failure, Failure::Quota { .. }) {
        let (id, lease) = (run.id, run.lease.id.clone());
        state
            .db
            .write(async move |tx| store::forget_attempt(tx, id, &lease).await)
            .await?;
        return Ok(false);
    }
    let may_be_charged =
        run.sent_at.is_some() || (stopped_at == Stage::Payment && failure.is_unknown());
    release(
        state,
        run,
        if may_be_charged {
            AttemptStep::Sending
        } else {
            AttemptStep::Started
        },
    )
    .await?;
    Ok(may_be_charged)
}

/// A refusal that no repetition can change ends the attempt.
async fn refuse(state: &State, run: &Run, failure: &Failure) -> Result<(), db::Error> {
    let (status, detail) = failure.answer();
    let finish = Finish {
        id: run.id,
        step: AttemptStep::Refused,
        payment_id: None,
        response_status: i64::from(status.as_u16()),
        response: Some(detail),
        now: state.clock.now(),
    };
    state
        .db
        .write(async move |tx| store::finish_attempt(tx, &finish).await)
        .await
        .map(drop)
}

async fn release(state: &State, run: &Run, step: AttemptStep) -> Result<(), db::Error> {
    let is_unknown = step == AttemptStep::Sending;
    let check_at = is_unknown.then(|| state.clock.now() + crate::reconcile::FIRST_WAIT);
    let release = Release {
        id: run.id,
        lease: run.lease.id.clone(),
        step,
        check_at,
    };
    state
        .db
        .write(async move |tx| store::release_attempt(tx, &release).await)
        .await?;
    if is_unknown {
        state.wake_reconciler();
    }
    Ok(())
}

/// The answer of an attempt that has ended.
pub(super) async fn replay(state: &State, attempt: Attempt) -> Result<Created, CreateError> {
    let response = attempt.response.unwrap_or_default();
    let Some(row) = attempt.payment_id else {
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
