//! Creates a payment: store the intent → (card: token) → payment at the provider → store the result
//! → response. A crash at any point leaves an attempt that a retry or the reconciler completes. It
//! never causes a second charge.

mod calls;
mod fair_use;

use std::time::Duration;

use db::{Timestamp, Tx};
use web::client::ClientAddress;
use web::locale::Locale;

use super::cancel::{CancelError, cancel_pending};
use super::claim::{self, Claim, Run};
use super::end::{RunError, Stop, end_stopped, give_up_unread};
use super::model::{Attempt, Instruction, NewRun, PaymentInstruction, Terms};
use super::settle::{SettleError, settle_payment};
use crate::idempotency::IdempotencyKey;
use crate::orders::{self, Obstacle};
use crate::payments::{self, Intent, PaymentState, Source};
use crate::provider::{Failure, ProviderPayment};
use crate::request::{MethodKind, PaymentRequest};
use crate::state::State;
use fair_use::{Admission, CardOutcome};

/// The response to a creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CreationResponse {
    /// The JSON body, byte for byte the one of the first response.
    pub(crate) body: String,
    /// Whether the response was sent before for the same idempotency key.
    pub(crate) replayed: bool,
    /// The token that allows its holder to follow the payment's status.
    pub(crate) status_token: String,
}

/// Why a creation has no payment to return.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CreateError {
    #[error(transparent)]
    Run(#[from] RunError),
    /// The order cannot be paid, or not now.
    #[error("the order cannot be paid: {0:?}")]
    Order(Obstacle),
    /// The provider made a payment with a status that this version does not know.
    #[error("the provider's status is not a known one")]
    UnknownStatus,
    #[error(transparent)]
    Database(#[from] db::Error),
}

/// The client that requests a payment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requester {
    /// The language of the buyer's receipt.
    pub(crate) language: Locale,
    /// The anonymous client. `None` for a merchant or a program on this machine.
    pub(crate) anonymous_client: Option<ClientAddress>,
    /// When the request arrived.
    pub(crate) requested_at: Timestamp,
}

/// The order that a payment belongs to.
#[derive(Debug, Clone)]
pub(crate) struct OrderRef {
    pub(crate) row: i64,
    pub(crate) id: String,
    /// After this time the order can no longer be paid.
    pub(crate) expires_at: Timestamp,
}

/// How many pending payments are cancelled for one request while other tabs create new ones.
const CANCELLATIONS_MAX: usize = 3;
/// The shortest lifetimes of a pix and of a boleto that the provider accepts, plus a minute for
/// clock skew.
const SHORTEST_PIX: Duration = Duration::from_secs(31 * 60);
const SHORTEST_BOLETO: Duration = Duration::from_secs((24 * 60 + 1) * 60);

/// A run of a payment's attempt, with its request and its instruction.
struct PaymentTask<'a> {
    state: &'a State,
    request: &'a PaymentRequest,
    order: Option<&'a OrderRef>,
    admission: Admission<'a>,
    run: Run,
    instruction: PaymentInstruction,
}

/// Creates the payment of a validated request, or returns the stored response of its idempotency
/// key. An order has no other live payment at that time.
pub(crate) async fn create(
    state: &State,
    request: &PaymentRequest,
    key: Option<IdempotencyKey>,
    requester: Requester,
    order: Option<&OrderRef>,
) -> Result<CreationResponse, CreateError> {
    let intent = Intent::of(request, requester.language);
    let claim_request = ClaimRequest {
        state,
        request,
        intent: &intent,
        key,
        order,
        requested_at: requester.requested_at,
    };
    let mut admission = Admission::new(state, request, requester.anonymous_client);
    let run = match claim_request.claim(&mut admission).await {
        Ok(Claim::Run(run)) => *run,
        other => {
            admission.record(CardOutcome::Unknown).await;
            return match other? {
                Claim::Ended(attempt) => replay(state, *attempt).await,
                Claim::Mismatch => Err(RunError::Mismatch.into()),
                Claim::Busy | Claim::Run(_) => Err(RunError::Busy.into()),
            };
        }
    };
    // The stored intent may have lost its personal data since.
    let instruction = PaymentInstruction {
        intent,
        ..run.attempt.payment_instruction()?.clone()
    };
    let mut task = PaymentTask {
        state,
        request,
        order,
        admission,
        run,
        instruction,
    };
    let made = calls::make(&mut task).await;
    task.admission.record(card_outcome(&made)).await;
    match made {
        Ok(payment) => finish(task, &payment).await,
        Err(stop) => {
            if let Stop::Failed { failure, .. } = &stop {
                state.metrics.payment(request.method.kind(), Err(failure));
            }
            Err(end_stopped(state, &task.run, stop).await?.into())
        }
    }
}

/// Records the payment that a run has made, and completes its attempt.
async fn finish(
    task: PaymentTask<'_>,
    payment: &ProviderPayment,
) -> Result<CreationResponse, CreateError> {
    let state = task.state;
    let attempt = Attempt {
        instruction: Instruction::Payment(Box::new(task.instruction)),
        ..task.run.attempt.clone()
    };
    match settle_payment(state, &attempt, payment, Source::Creation).await {
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
    }
}

/// The stored response of an attempt that has ended.
async fn replay(state: &State, attempt: Attempt) -> Result<CreationResponse, CreateError> {
    let Some(row) = attempt.payment else {
        return Err(RunError::repeated(attempt).into());
    };
    let payment = state
        .db
        .read(async move |conn| payments::find_by_row(conn, row).await)
        .await?;
    let payment = payment.ok_or_else(|| db::Error::other("an attempt's payment is missing"))?;
    Ok(CreationResponse {
        body: attempt.response.unwrap_or_default(),
        replayed: true,
        status_token: state.status_token(&payment.id),
    })
}

/// The outcome of a card attempt, for the decline counters.
fn card_outcome(made: &Result<ProviderPayment, Stop>) -> CardOutcome {
    match made {
        Ok(payment) if payment.status == PaymentState::Rejected.name() => CardOutcome::Declined,
        Ok(_) => CardOutcome::NotDeclined,
        Err(Stop::Failed { failure, .. }) if failure.is_refusal() => CardOutcome::Declined,
        Err(_) => CardOutcome::Unknown,
    }
}

/// A validated request that has not claimed an attempt yet.
struct ClaimRequest<'a> {
    state: &'a State,
    request: &'a PaymentRequest,
    intent: &'a Intent,
    key: Option<IdempotencyKey>,
    order: Option<&'a OrderRef>,
    requested_at: Timestamp,
}

impl ClaimRequest<'_> {
    /// Claims the attempt. A pending pix or boleto of the same order is cancelled first, unless the
    /// client is over its limits, or the quota has no calls for the new payment.
    async fn claim(&self, admission: &mut Admission<'_>) -> Result<Claim, CreateError> {
        let refused = |failure| RunError::Provider {
            failure,
            is_unknown: false,
        };
        for _ in 0..CANCELLATIONS_MAX {
            let payment = match self.try_claim().await? {
                Ok(claim) => return Ok(claim),
                // A pending card payment is not cancelled for another.
                Err(Obstacle::Pending { payment, method }) if method != MethodKind::Card => payment,
                Err(obstacle) => return Err(CreateError::Order(obstacle)),
            };
            admission.admit().await.map_err(refused)?;
            let creation = 1 + u32::from(self.intent.method == MethodKind::Card);
            admission.reserve(1, creation).await.map_err(refused)?;
            let (purpose, source) = (admission.purpose(), Source::Cancellation);
            match cancel_pending(self.state, &payment, purpose, source).await {
                // The payment may have been paid in the meantime. The order's row shows that by
                // now.
                Ok(_) | Err(CancelError::State) => {}
                Err(CancelError::NotFound) => {
                    return Err(db::Error::other("an order's payment is missing").into());
                }
                // The caller takes a refusal for the end of the new payment.
                Err(CancelError::Provider(failure)) if failure.is_refusal() => {
                    return Err(refused(Failure::Unknown(Box::new(failure))).into());
                }
                Err(CancelError::Provider(failure)) => return Err(refused(failure).into()),
                Err(CancelError::Database(error)) => return Err(error.into()),
            }
        }
        Err(CreateError::Order(Obstacle::Confirming))
    }

    async fn try_claim(&self) -> Result<Result<Claim, Obstacle>, CreateError> {
        let state = self.state;
        let fingerprint = self.key.as_ref().map(|_| {
            let of_request = self.request.fingerprint(&state.fingerprint_key);
            match self.order {
                Some(order) => format!("{of_request} {}", order.id),
                None => of_request,
            }
        });
        let run = NewRun::new(state, self.key.clone(), fingerprint, self.requested_at)?;
        let instruction = instruction(state, self.intent, run.now, self.order);
        let order = self.order.map(|order| order.row);
        state
            .db
            .write(async move |tx| match order {
                Some(order) => claim_for_order(tx, order, &run, &instruction).await,
                None => claim::begin(tx, &run, &instruction).await.map(Ok),
            })
            .await
            .map_err(CreateError::Database)
    }
}

/// Claims the attempt of a run that pays an order, or says why it must not. The order's row stays
/// locked. A stored response is returned again whatever happened to the order since.
async fn claim_for_order(
    tx: &mut Tx,
    order: i64,
    run: &NewRun,
    instruction: &Instruction,
) -> Result<Result<Claim, Obstacle>, db::Error> {
    let order = orders::lock(tx, order).await?;
    let known = match &run.key {
        Some(key) => claim::find_by_key(tx, key, run.now).await?,
        None => None,
    };
    let is_answered = known
        .as_ref()
        .is_some_and(|known| known.fingerprint != run.fingerprint || known.step.is_answered());
    if is_answered {
        // Nothing new may begin here, since the order was not asked.
        let claim = claim::resume(tx, run).await?;
        return match claim {
            Some(claim) => Ok(Ok(claim)),
            None => Err(db::Error::retry("an idempotency key vanished")),
        };
    }
    match orders::obstacle(tx, &order, known.map(|known| known.id), run.now).await? {
        Some(obstacle) => Ok(Err(obstacle)),
        None => claim::begin(tx, run, instruction).await.map(Ok),
    }
}

fn instruction(
    state: &State,
    intent: &Intent,
    now: Timestamp,
    of_order: Option<&OrderRef>,
) -> Instruction {
    let is_card = intent.method == MethodKind::Card;
    let boleto_method = &state.config.boleto_method;
    Instruction::Payment(Box::new(PaymentInstruction {
        reference: state.random.uuid_at(now).to_string(),
        order_id: of_order.map(|order| order.row),
        intent: intent.clone(),
        terms: Terms {
            notification_url: state.notification_url.clone(),
            boleto_method: (intent.method == MethodKind::Boleto).then(|| boleto_method.clone()),
            date_of_expiration: expiry(intent.method, of_order, now),
        },
        token_key: is_card.then(|| state.random.uuid()),
        card_token: None,
    }))
}

/// When the pix or boleto of an order expires: with the order, unless the provider refuses to end it
/// that soon.
fn expiry(method: MethodKind, of_order: Option<&OrderRef>, now: Timestamp) -> Option<Timestamp> {
    let shortest = match method {
        MethodKind::Card => return None,
        MethodKind::Pix => SHORTEST_PIX,
        MethodKind::Boleto => SHORTEST_BOLETO,
    };
    of_order.map(|order| order.expires_at.max(now + shortest))
}
