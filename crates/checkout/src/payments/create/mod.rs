//! Creating a payment: intent stored → (card: token) → payment at the provider → result stored → answer. A crash at any
//! point leaves an attempt that a repetition or the reconciler completes; never a second charge.

mod calls;
mod end;

use super::claim::{self, Claim};
use super::idempotency::IdempotencyKey;
use super::model::Intent;
use crate::app::State;
use crate::provider::Failure;
use crate::request::PaymentRequest;
use calls::{Stop, make};

/// The answer to a creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// The response's JSON, byte for byte what was answered first.
    pub body: String,
    /// Was it answered before?
    pub replayed: bool,
    /// Lets its holder follow the payment's status.
    pub status_token: String,
}

/// Why a creation has no payment to show.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// Another request with the same idempotency key is at work.
    #[error("a request with this idempotency key is still running")]
    Busy,
    /// The idempotency key was used for another request.
    #[error("the idempotency key was used for another request")]
    Mismatch,
    /// The provider failed or refused.
    #[error("{failure}")]
    Provider {
        /// How.
        #[source]
        failure: Failure,
        /// May it have made the payment all the same?
        may_be_charged: bool,
    },
    /// The refusal that was answered before for the same key.
    #[error("refused before with {status}: {detail}")]
    Repeated {
        /// The status of that answer.
        status: u16,
        /// Its detail.
        detail: String,
    },
    /// The provider made a payment whose status is none we know.
    #[error("the provider's status is not a known one")]
    UnknownStatus,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
    /// A fault of ours.
    #[error("{0}")]
    Fault(&'static str),
}

/// Makes the payment that a checked request asks for, or gives the answer that its key stands for.
///
/// # Errors
/// See [`CreateError`].
pub async fn create(
    state: &State,
    request: &PaymentRequest,
    key: Option<IdempotencyKey>,
) -> Result<Created, CreateError> {
    let intent = Intent::of(request);
    let fingerprint = key
        .as_ref()
        .map(|_| request.fingerprint(&state.fingerprint_key));
    let mut run = match claim::claim(state, &intent, key, fingerprint).await? {
        Claim::Run(run) => *run,
        Claim::Ended(attempt) => return end::replay(state, *attempt).await,
        Claim::Busy => return Err(CreateError::Busy),
        Claim::Mismatch => return Err(CreateError::Mismatch),
    };
    match make(state, request, &mut run).await {
        Ok(payment) => end::finish(state, run, intent, &payment).await,
        Err(Stop::Failed { failure, stage }) => {
            state.metrics.payment_failed(intent.method, &failure);
            let may_be_charged = end::give_up(state, &run, &failure, stage).await?;
            Err(CreateError::Provider {
                failure,
                may_be_charged,
            })
        }
        Err(Stop::LeaseLost) => Err(CreateError::Busy),
        Err(Stop::Database(error)) => Err(error.into()),
    }
}
