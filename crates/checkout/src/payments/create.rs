//! Creating a payment: intent stored → (card: token) → payment at the provider → result stored → answer. A crash at any
//! point leaves an attempt that a repetition or the reconciler completes; never a second charge.

use super::claim::{self, Claim, Run};
use super::idempotency::IdempotencyKey;
use super::model::Intent;
use super::settle::{self, Made, SettleError};
use super::store::{self, Attempt, AttemptStep, Finish, Lease, Release, Source};
use crate::app::State;
use crate::provider::{CardToken, Failure, NewPayment, ProviderPayment, Purpose};
use crate::request::{Card, Method, PaymentRequest};

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
        Claim::Ended(attempt) => return replay(state, *attempt).await,
        Claim::Busy => return Err(CreateError::Busy),
        Claim::Mismatch => return Err(CreateError::Mismatch),
    };
    match make(state, request, &mut run).await {
        Ok(payment) => finish(state, run, intent, &payment).await,
        Err(Stop::Failed { failure, stage }) => {
            state.metrics.payment_failed(intent.method, &failure);
            let may_be_charged = give_up(state, &run, &failure, stage).await?;
            Err(CreateError::Provider {
                failure,
                may_be_charged,
            })
        }
        Err(Stop::LeaseLost) => Err(CreateError::Busy),
        Err(Stop::Database(error)) => Err(error.into()),
    }
}

/// At which call a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Before any call, or while asking the provider by reference.
    Asking,
    /// The card's token.
    Token,
    /// The payment itself.
    Payment,
}

enum Stop {
    Failed { failure: Failure, stage: Stage },
    LeaseLost,
    Database(db::Error),
}

impl Stop {
    fn at(stage: Stage) -> impl FnOnce(Failure) -> Self {
        move |failure| Self::Failed { failure, stage }
    }
}

/// The calls of one run, in the order that never charges twice.
async fn make(
    state: &State,
    request: &PaymentRequest,
    run: &mut Run,
) -> Result<ProviderPayment, Stop> {
    let card = match &request.method {
        Method::Card(card) => Some(card),
        Method::Pix | Method::Boleto(_) => None,
    };
    let wants_token = card.is_some() && run.token.is_none();
    let calls = 1 + u32::from(wants_token) + u32::from(run.sent_at.is_some());
    state
        .provider
        .reserve(calls, Purpose::Buyer)
        .await
        .map_err(Stop::at(Stage::Asking))?;
    if run.sent_at.is_some() {
        if let Some(payment) = ask(state, run).await? {
            return Ok(payment);
        }
    }
    if let (Some(card), true) = (card, wants_token) {
        tokenise(state, request, card, run).await?;
    }
    match send(state, request, run).await {
        Err(Stop::Failed { failure, .. }) if failure.is_spent_card_token() && !run.is_fresh => {
            replace_token(state, request, card, run, failure).await
        }
        result => result,
    }
}

async fn send(state: &State, request: &PaymentRequest, run: &Run) -> Result<ProviderPayment, Stop> {
    let new = NewPayment {
        request,
        token: run.token.as_ref(),
        external_reference: &run.reference,
        notification_url: state.notification_url.as_deref(),
    };
    state
        .provider
        .create_payment(&new, run.create_key)
        .await
        .map_err(Stop::at(Stage::Payment))
}

/// The payment that the provider knows by our reference.
async fn ask(state: &State, run: &Run) -> Result<Option<ProviderPayment>, Stop> {
    let found = state
        .provider
        .find_by_reference(&run.reference, claim::new_key(state))
        .await;
    Ok(found.map_err(Stop::at(Stage::Asking))?.into_iter().next())
}

/// Exchanges the card for a token, and stores that with the mark that the payment's call comes next.
async fn tokenise(
    state: &State,
    request: &PaymentRequest,
    card: &Card,
    run: &mut Run,
) -> Result<(), Stop> {
    let token = state
        .provider
        .create_card_token(card, request, run.token_key)
        .await;
    let token = token.map_err(Stop::at(Stage::Token))?;
    let now = state.clock.now();
    let lease = Lease {
        until: now + claim::lease_length(state.config.provider.timeout),
        ..run.lease.clone()
    };
    let kept = Kept {
        token: token.clone(),
        keys: (run.token_key.to_string(), run.create_key.to_string()),
    };
    let id = run.id;
    let is_ours = state
        .db
        .write(async move |tx| {
            let keys = (kept.keys.0.as_str(), kept.keys.1.as_str());
            store::keep_card_token(tx, id, &lease, kept.token.as_str(), keys, now).await
        })
        .await
        .map_err(Stop::Database)?;
    if !is_ours {
        return Err(Stop::LeaseLost);
    }
    run.token = Some(token);
    Ok(())
}

struct Kept {
    token: CardToken,
    keys: (String, String),
}

/// The stored token is used up. A new one is made only when the provider knows no payment of ours, and only when the
/// call that used it up can no longer be on its way there.
async fn replace_token(
    state: &State,
    request: &PaymentRequest,
    card: Option<&Card>,
    run: &mut Run,
    refused: Failure,
) -> Result<ProviderPayment, Stop> {
    state
        .provider
        .reserve(3, Purpose::Buyer)
        .await
        .map_err(Stop::at(Stage::Asking))?;
    if let Some(payment) = ask(state, run).await? {
        return Ok(payment);
    }
    let settled = run.sent_at.is_none_or(|sent| {
        sent + claim::lease_length(state.config.provider.timeout) <= state.clock.now()
    });
    let (Some(card), true) = (card, settled) else {
        let cause = Box::new(refused);
        return Err(Stop::Failed {
            failure: Failure::Unknown(cause),
            stage: Stage::Payment,
        });
    };
    (run.token_key, run.create_key) = (claim::new_key(state), claim::new_key(state));
    run.token = None;
    tokenise(state, request, card, run).await?;
    send(state, request, run).await
}

async fn finish(
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
        Err(SettleError::Database(error)) => Err(error.into()),
        Err(SettleError::Shape(_)) => {
            Err(CreateError::Fault("a payment could not be written as JSON"))
        }
    }
}

/// Leaves an attempt as its failure asks for: ended, forgotten, or open to a repetition. True when the provider may
/// have made the payment.
async fn give_up(
    state: &State,
    run: &Run,
    failure: &Failure,
    stage: Stage,
) -> Result<bool, db::Error> {
    if failure.is_final() && stage != Stage::Asking {
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
    let may_be_charged = run.sent_at.is_some() || (stage == Stage::Payment && failure.is_unknown());
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
async fn replay(state: &State, attempt: Attempt) -> Result<Created, CreateError> {
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
