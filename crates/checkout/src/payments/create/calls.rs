//! The calls to the provider for one attempt, in the order that never charges twice.

use db::Timestamp;

use super::Work;
use crate::payments::attempt::{self, Stage, is_certain};
use crate::payments::store;
use crate::provider::{Failure, NewPayment, ProviderPayment};
use crate::request::{Card, Method};

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

/// The calls of one run: what an earlier one came to is asked before anything is sent again.
pub(super) async fn make(work: &mut Work<'_>) -> Result<ProviderPayment, Stop> {
    let card = match &work.request.method {
        Method::Card(card) => Some(card),
        Method::Pix | Method::Boleto(_) => None,
    };
    let wants_token = card.is_some() && work.instruction.card_token.is_none();
    let asks = work.run.sent_at.is_some();
    if !asks {
        work.admission
            .ask()
            .await
            .map_err(Stop::at(Stage::Asking))?;
    }
    reserve(work, 1 + u32::from(wants_token) + u32::from(asks)).await?;
    if asks && let Some(payment) = ask(work).await? {
        return Ok(payment);
    }
    if let Some(card) = card.filter(|_| wants_token) {
        tokenise(work, card).await?;
    }
    let sent = send(work).await;
    match (sent, card) {
        (Err(failure), Some(card)) if may_replace_token(work, &failure) => {
            reserve(work, 3).await?;
            if let Some(payment) = ask(work).await? {
                return Ok(payment);
            }
            renew_keys(work);
            tokenise(work, card).await?;
            send(work).await.map_err(Stop::at(Stage::Moving))
        }
        (sent, _) => sent.map_err(Stop::at(Stage::Moving)),
    }
}

async fn reserve(work: &Work<'_>, calls: u32) -> Result<(), Stop> {
    let purpose = work.admission.purpose();
    let reserved = work.state.provider.reserve(calls, purpose).await;
    reserved.map_err(Stop::at(Stage::Asking))
}

async fn send(work: &Work<'_>) -> Result<ProviderPayment, Failure> {
    work.run.check_lease(&work.state.clock)?;
    let terms = &work.instruction.terms;
    let new = NewPayment {
        request: work.request,
        token: work.instruction.card_token.as_ref(),
        external_reference: &work.reference,
        notification_url: terms.notification_url.as_deref(),
        boleto_method: terms.boleto_method.as_deref().unwrap_or_default(),
        date_of_expiration: terms.date_of_expiration,
    };
    let key = work.run.attempt.upstream_key;
    work.state.provider.create_payment(&new, key).await
}

/// The payment that the provider knows by our reference. When it knows none, and must know what was sent by now, nothing was made: what is
/// sent next is sent for the first time.
async fn ask(work: &mut Work<'_>) -> Result<Option<ProviderPayment>, Stop> {
    let state = work.state;
    let asked_at = state.clock.now();
    let found = state
        .provider
        .find_by_reference(&work.reference, attempt::new_key(state))
        .await;
    let found = found.map_err(Stop::at(Stage::Asking))?;
    if found.len() > 1 {
        tracing::error!(
            reference = work.reference.as_str(),
            "the provider knows several payments by one reference"
        );
    }
    let is_open = |sent: &Timestamp| !is_certain(*sent, asked_at);
    work.run.sent_at = work.run.sent_at.filter(is_open);
    Ok(found.into_iter().next())
}

/// A new token may be charged beside the old one: it is made only when it is certain that the old one was not.
fn may_replace_token(work: &Work<'_>, failure: &Failure) -> bool {
    failure.is_spent_card_token() && !work.run.is_fresh && work.run.sent_at.is_none()
}

/// Other bytes than those that were sent need keys of their own.
fn renew_keys(work: &mut Work<'_>) {
    work.instruction.token_key = Some(attempt::new_key(work.state));
    work.run.attempt.upstream_key = attempt::new_key(work.state);
}

/// Exchanges the card for a token, and stores that with the mark that the payment's call comes next.
async fn tokenise(work: &mut Work<'_>, card: &Card) -> Result<(), Stop> {
    let state = work.state;
    if work.run.sent_at.is_some() {
        // The token that was sent is gone, and what came of it is not known.
        let failure = Failure::Unknown("the card's token was used up or erased".into());
        return Err(Stop::at(Stage::Asking)(failure));
    }
    if work.run.attempt.sent_at.is_some() {
        renew_keys(work);
    }
    let token_key = work
        .instruction
        .token_key
        .unwrap_or(work.run.attempt.upstream_key);
    let token = state
        .provider
        .create_card_token(card, work.request, token_key)
        .await;
    let token = token.map_err(Stop::at(Stage::Token))?;
    let now = state.clock.now();
    work.run.lease.until = now + attempt::lease_length(state.config.provider.timeout);
    let lease = work.run.lease.clone();
    let (id, kept) = (work.run.attempt.id, token.clone());
    let keys = [token_key, work.run.attempt.upstream_key].map(|key| key.to_string());
    let is_ours = state
        .db
        .write(async move |tx| {
            let [token_key, upstream_key] = &keys;
            store::keep_card_token(
                tx,
                id,
                &lease,
                kept.as_str(),
                (token_key, upstream_key),
                now,
            )
            .await
        })
        .await
        .map_err(Stop::Database)?;
    if !is_ours {
        return Err(Stop::LeaseLost);
    }
    work.instruction.card_token = Some(token);
    Ok(())
}
