//! The calls to the provider for one attempt, in the order that never charges twice.

use crate::app::State;
use crate::payments::claim::{self, Run};
use crate::payments::store::{self, Lease};
use crate::provider::{CardToken, Failure, NewPayment, ProviderPayment, Purpose};
use crate::request::{Card, Method, PaymentRequest};

/// At which call a run stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Before any call, or while asking the provider by reference.
    Asking,
    /// The card's token.
    Token,
    /// The payment itself.
    Payment,
}

pub(super) enum Stop {
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
pub(super) async fn make(
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
    if run.sent_at.is_some()
        && let Some(payment) = ask(state, run).await?
    {
        return Ok(payment);
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
    let found = found.map_err(Stop::at(Stage::Asking))?;
    if found.len() > 1 {
        tracing::error!(
            reference = run.reference.as_str(),
            "the provider knows several payments by one reference"
        );
    }
    Ok(found.into_iter().next())
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
