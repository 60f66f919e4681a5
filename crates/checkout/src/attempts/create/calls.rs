//! The calls to the provider for one payment attempt, in the order that excludes a double charge.

use db::Tx;

use super::PaymentTask;
use crate::attempts::claim::lease_length;
use crate::attempts::end::Stop;
use crate::attempts::finality::Stage;
use crate::attempts::store;
use crate::provider::{Failure, NewPayment, ProviderPayment};
use crate::request::{Card, Method};

/// Makes the calls of one run. The outcome of an earlier call is read before anything is sent
/// again.
pub(super) async fn make(task: &mut PaymentTask<'_>) -> Result<ProviderPayment, Stop> {
    let card = match &task.request.method {
        Method::Card(card) => Some(card),
        Method::Pix | Method::Boleto(_) => None,
    };
    let wants_token = card.is_some() && task.instruction.card_token.is_none();
    let must_read_first = task.run.sent_at.is_some();
    if !must_read_first {
        task.admission
            .admit()
            .await
            .map_err(Stop::at(Stage::Asking))?;
    }
    reserve(
        task,
        1 + u32::from(wants_token) + u32::from(must_read_first),
    )
    .await?;
    if must_read_first && let Some(payment) = find_earlier_payment(task).await? {
        return Ok(payment);
    }
    if let Some(card) = card.filter(|_| wants_token) {
        tokenise(task, card).await?;
    }
    renew_expiry(task).await?;
    let sent = send(task).await;
    match (sent, card) {
        (Err(failure), Some(card)) if may_replace_token(task, &failure) => {
            reserve(task, 3).await?;
            if let Some(payment) = find_earlier_payment(task).await? {
                return Ok(payment);
            }
            renew_keys(task);
            tokenise(task, card).await?;
            send(task).await.map_err(Stop::at(Stage::Moving))
        }
        (sent, _) => sent.map_err(Stop::at(Stage::Moving)),
    }
}

async fn reserve(task: &mut PaymentTask<'_>, calls: u32) -> Result<(), Stop> {
    let reserved = task.admission.reserve(calls, 0).await;
    reserved.map_err(Stop::at(Stage::Asking))
}

async fn send(task: &PaymentTask<'_>) -> Result<ProviderPayment, Failure> {
    task.run.check_lease(&task.state.clock)?;
    let terms = &task.instruction.terms;
    let new = NewPayment {
        request: task.request,
        token: task.instruction.card_token.as_ref(),
        external_reference: &task.instruction.reference,
        notification_url: terms.notification_url.as_deref(),
        boleto_method: terms.boleto_method.as_deref().unwrap_or_default(),
        date_of_expiration: terms.date_of_expiration,
    };
    let key = task.run.attempt.upstream_key;
    task.state.provider.create_payment(&new, key).await
}

/// Finds the provider's payment with our external reference.
async fn find_earlier_payment(task: &mut PaymentTask<'_>) -> Result<Option<ProviderPayment>, Stop> {
    let state = task.state;
    let requested_at = state.clock.cautious();
    let reference = &task.instruction.reference;
    let found = state.provider.find_by_reference(reference).await;
    let found = found.map_err(Stop::at(Stage::Asking))?;
    if found.len() > 1 {
        tracing::error!(
            reference,
            "payments: the provider has several payments with one reference; the newest is recorded: look at all of them there, one may be a second charge"
        );
    }
    let payment = found.into_iter().next();
    if payment.is_none() {
        task.run.rule_out_earlier_call(requested_at);
    }
    Ok(payment)
}

/// Stores a new expiry of a pix or boleto whose earlier call is certain to have had no effect. The
/// provider refuses one that has become too short.
async fn renew_expiry(task: &mut PaymentTask<'_>) -> Result<(), Stop> {
    let state = task.state;
    let method = task.request.method.kind();
    let expiry = super::expiry(method, task.order, state.clock.now());
    let is_same = expiry == task.instruction.terms.date_of_expiration;
    if task.run.is_fresh || task.run.sent_at.is_some() || is_same {
        return Ok(());
    }
    task.instruction.terms.date_of_expiration = expiry;
    task.run.attempt.upstream_key = state.random.uuid();
    let (id, lease) = (task.run.attempt.id, task.run.lease.id.clone());
    let key = task.run.attempt.upstream_key.to_string();
    let renew = async move |tx: &mut Tx| store::keep_expiry(tx, id, &lease, expiry, &key).await;
    match state.db.write(renew).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Stop::LeaseLost),
        Err(error) => Err(Stop::Database(error)),
    }
}

/// Whether a new card token may replace a used-up one. The old token may have been charged, so this
/// is allowed only when it is certain that it was not.
fn may_replace_token(task: &PaymentTask<'_>, failure: &Failure) -> bool {
    failure.is_spent_card_token() && !task.run.is_fresh && task.run.sent_at.is_none()
}

/// A call with a changed body needs a new idempotency key.
fn renew_keys(task: &mut PaymentTask<'_>) {
    task.instruction.token_key = Some(task.state.random.uuid());
    task.run.attempt.upstream_key = task.state.random.uuid();
}

/// Exchanges the card for a token, and stores the token together with the step that comes next, the
/// payment's call.
async fn tokenise(task: &mut PaymentTask<'_>, card: &Card) -> Result<(), Stop> {
    let state = task.state;
    if task.run.sent_at.is_some() {
        // The token that was sent is gone, and the outcome of its call is unknown.
        let failure = Failure::Unknown("the card's token was used up or erased".into());
        return Err(Stop::at(Stage::Asking)(failure));
    }
    if task.run.attempt.sent_at.is_some() {
        renew_keys(task);
    }
    let token_key = task
        .instruction
        .token_key
        .unwrap_or(task.run.attempt.upstream_key);
    let token = state
        .provider
        .create_card_token(card, task.request, token_key)
        .await;
    let token = token.map_err(Stop::at(Stage::Token))?;
    let now = state.clock.now();
    task.run.lease.until = now + lease_length(state.config.provider.timeout);
    let lease = task.run.lease.clone();
    let (id, kept) = (task.run.attempt.id, token.clone());
    let keys = [token_key, task.run.attempt.upstream_key].map(|key| key.to_string());
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
    task.instruction.card_token = Some(token);
    Ok(())
}
