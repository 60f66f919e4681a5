//! Creating a payment: intent stored → (card: token) → payment at the provider → result stored → answer. A crash at any
//! point leaves an attempt that a repetition or the reconciler completes; never a second charge.

mod calls;
mod end;
mod fair_use;

use super::attempt::{self, Claim, NewRun, Run};
use super::idempotency::IdempotencyKey;
use super::model::Intent;
use super::state::PaymentState;
use super::store::{AttemptStep, NewAttempt, Order, PaymentOrder, Terms};
use crate::app::State;
use crate::provider::{ExternalReference, Failure, ProviderPayment};
use crate::request::{MethodKind, PaymentRequest};
use calls::{Stop, make};
use fair_use::Outcome;
use web::client::ClientAddress;
use web::rate::Held;

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

/// A run of a payment's attempt, and what it is to pay.
struct Work<'a> {
    state: &'a State,
    request: &'a PaymentRequest,
    /// The anonymous client who asks for it; none when a merchant does, or a program on this machine.
    stranger: Option<ClientAddress>,
    /// What counts the stranger's card as declined until it is known not to be.
    held: Vec<Held>,
    run: Run,
    order: PaymentOrder,
    /// The order's reference, as calls need it.
    reference: ExternalReference,
}

/// Makes the payment that a checked request asks for, or gives the answer that its key stands for. The `stranger` is the anonymous client
/// who asks; none when a merchant does, or a program on this machine.
///
/// # Errors
/// See [`CreateError`].
pub async fn create(
    state: &State,
    request: &PaymentRequest,
    key: Option<IdempotencyKey>,
    stranger: Option<ClientAddress>,
) -> Result<Created, CreateError> {
    let intent = Intent::of(request);
    let run = match claim(state, request, &intent, key).await? {
        Claim::Run(run) => *run,
        Claim::Ended(attempt) => return end::replay(state, *attempt).await,
        Claim::Busy => return Err(CreateError::Busy),
        Claim::Mismatch => return Err(CreateError::Mismatch),
    };
    let order = run.attempt.payment_order()?.clone();
    let mut work = Work {
        state,
        request,
        stranger,
        held: Vec::new(),
        run,
        reference: attempt::reference(&order.reference)?,
        order,
    };
    let made = make(&mut work).await;
    note(&mut work, &made).await;
    match made {
        Ok(payment) => end::finish(work, intent, &payment).await,
        Err(Stop::Failed { failure, stage }) => {
            state.metrics.payment_failed(intent.method, &failure);
            let end = attempt::give_up(state, &work.run, stage, failure).await?;
            Err(CreateError::Provider {
                failure: end.failure,
                may_be_charged: end.is_unknown,
            })
        }
        Err(Stop::LeaseLost) => Err(CreateError::Busy),
        Err(Stop::Database(error)) => Err(error.into()),
    }
}

/// Counts what became of a stranger's card.
async fn note(work: &mut Work<'_>, made: &Result<ProviderPayment, Stop>) {
    let outcome = match made {
        Ok(payment) if payment.status == PaymentState::Rejected.as_str() => Outcome::Declined,
        Ok(_) => Outcome::NotDeclined,
        Err(Stop::Failed { failure, .. }) if failure.is_refusal() => Outcome::Declined,
        Err(_) => Outcome::Unknown,
    };
    if let Some(client) = work.stranger {
        let held = std::mem::take(&mut work.held);
        fair_use::note(work.state, work.request, client, held, outcome).await;
    }
}

async fn claim(
    state: &State,
    request: &PaymentRequest,
    intent: &Intent,
    key: Option<IdempotencyKey>,
) -> Result<Claim, db::Error> {
    let fingerprint = key
        .as_ref()
        .map(|_| request.fingerprint(&state.fingerprint_key));
    let run = NewRun::new(state, key, fingerprint);
    let new = new_attempt(state, intent, &run);
    state
        .db
        .write(async move |tx| attempt::begin(tx, &run, &new).await)
        .await
}

fn new_attempt(state: &State, intent: &Intent, run: &NewRun) -> NewAttempt {
    let is_card = intent.method == MethodKind::Card;
    let boleto_method = &state.config.boleto_method;
    let order = PaymentOrder {
        reference: state.random.uuid_at(run.now).to_string(),
        intent: intent.clone(),
        terms: Terms {
            notification_url: state.notification_url.clone(),
            boleto_method: (intent.method == MethodKind::Boleto).then(|| boleto_method.clone()),
        },
        token_key: is_card.then(|| attempt::new_key(state)),
        card_token: None,
    };
    // A card's first call makes no payment yet; those of pix and boleto do.
    let step = if is_card {
        AttemptStep::Started
    } else {
        AttemptStep::Sending
    };
    run.attempt(step, Order::Payment(Box::new(order)))
}
