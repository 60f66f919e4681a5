//! A refund that the provider has made, as it is stored and answered.

use db::{Money, Timestamp, Tx};

use super::RefundError;
use crate::app::State;
use crate::payments::claim::new_key;
use crate::payments::model::Word;
use crate::payments::settle::settle_word;
use crate::payments::shape::RefundBody;
use crate::payments::store::{self, AttemptStep, OpenRefund, Source};
use crate::provider::ProviderRefund;
use crate::reconcile::FIRST_WAIT;

/// The provider's word on a refund whose money went back.
pub(super) const APPROVED: &str = "approved";

/// A refund that the provider made, as it is stored and answered.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) id: String,
    pub(super) status: String,
    pub(super) date_created: String,
    pub(super) amount: Money,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn new(
        payment: &str,
        asked: Money,
        made: &ProviderRefund,
        now: Timestamp,
    ) -> Result<Self, serde_json::Error> {
        let amount = made.amount.unwrap_or(asked);
        let date_created = made.date_created.clone().unwrap_or_else(|| now.to_string());
        let body = serde_json::to_string(&RefundBody {
            id: &made.id,
            payment_id: payment,
            amount: amount.to_json(),
            status: &made.status,
            date_created: &date_created,
        })?;
        Ok(Self {
            id: made.id.clone(),
            status: made.status.clone(),
            date_created,
            amount,
            body,
        })
    }

    pub(super) async fn store(
        &self,
        tx: &mut Tx,
        row: i64,
        now: Timestamp,
    ) -> Result<bool, db::Error> {
        let provider = Some((
            self.id.as_str(),
            self.status.as_str(),
            self.date_created.as_str(),
        ));
        store::finish_refund(
            tx,
            row,
            AttemptStep::Finished,
            provider,
            (200, Some(&self.body)),
            is_open(&self.status).then(|| now + FIRST_WAIT),
        )
        .await
    }
}

/// Is the provider still at work on it? It may yet refuse, and its amount would be free again.
fn is_open(status: &str) -> bool {
    status != APPROVED && !store::is_refused(status)
}

/// Records what became of a refund that the provider was still at work on: did the money go back? None while it still is.
/// `next` is when its check is due again, as it was claimed.
pub(crate) async fn follow_refund(
    state: &State,
    refund: &OpenRefund,
    listed: &[ProviderRefund],
    next: Timestamp,
) -> Result<Option<bool>, db::Error> {
    let Some(found) = listed
        .iter()
        .find(|made| Some(&made.id) == refund.made.as_ref())
    else {
        return Ok(None);
    };
    if is_open(&found.status) {
        return Ok(None);
    }
    let (id, status) = (refund.id, found.status.clone());
    let write =
        async move |tx: &mut Tx| store::follow_refund(tx, id, next, Some(&status), None).await;
    state.db.write::<_, db::Error, _>(write).await?;
    read_payment(state, &refund.payment_id).await?;
    Ok(Some(found.status == APPROVED))
}

/// Completes an open refund with the provider's list of the payment's refunds: the first with its amount that no other
/// refund of ours has. False when there is none.
pub(crate) async fn match_refund(
    state: &State,
    refund: &OpenRefund,
    listed: Vec<ProviderRefund>,
) -> Result<bool, RefundError> {
    let mut candidates = Vec::new();
    for made in listed
        .iter()
        .filter(|made| made.amount.is_none_or(|amount| amount == refund.amount))
    {
        candidates.push(Answer::new(
            &refund.payment_id,
            refund.amount,
            made,
            state.clock.now(),
        )?);
    }
    let (row, payment, now) = (refund.id, refund.payment, state.clock.now());
    let matched = async move |tx: &mut Tx| {
        let kept = store::refunds_of(tx, payment).await?;
        let is_free = |answer: &&Answer| {
            kept.iter()
                .all(|other| other.provider_id.as_deref() != Some(&answer.id))
        };
        match candidates.iter().find(is_free) {
            Some(answer) => answer.store(tx, row, now).await,
            None => Ok(false),
        }
    };
    if !state.db.write::<_, db::Error, _>(matched).await? {
        return Ok(false);
    }
    read_payment(state, &refund.payment_id).await?;
    Ok(true)
}

async fn read_payment(state: &State, id: &str) -> Result<(), db::Error> {
    match state.provider.read(id, new_key(state)).await {
        Ok(payment) => {
            settle_word(state, id, Word::from(&payment), Source::Refund).await?;
        }
        Err(failure) => {
            tracing::warn!(payment = id, %failure, "a refunded payment could not be read back");
        }
    }
    Ok(())
}
