//! Full and partial refunds of a payment. Each request has its own idempotency key.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::idempotency::{Idempotency, key_conflict};
use crate::model::{ChangeError, Payment, Refund};
use crate::refusal::Refusal;
use crate::state::State;
use crate::values::Amount;

#[derive(Default, Deserialize)]
struct RefundRequest<'a> {
    #[serde(borrow)]
    amount: Option<&'a RawValue>,
}

/// The result of a refund request.
pub(crate) enum Outcome {
    Made(Arc<Payment>, Refund),
    /// An earlier request with the same key made the refund: the provider responds 200 with an
    /// empty body.
    Repeated,
}

/// Refunds the remaining amount, or the amount in the body.
///
/// # Errors
/// 2063 when the payment is not approved, 2072 for more than the remaining amount, 2024 after 180
/// days.
pub(crate) fn create(
    state: &State,
    id: u64,
    body: &[u8],
    idempotency: Idempotency,
) -> Result<Outcome, Refusal> {
    let amount = requested_amount(body)?;
    let now = state.now();
    let mut store = state.store();
    let payment = store.payment(id).ok_or_else(Refusal::payment_not_found)?;
    if let Some(earlier) = with_key(&payment, &idempotency.key) {
        let same = earlier.fingerprint == idempotency.fingerprint;
        return if same {
            Ok(Outcome::Repeated)
        } else {
            Err(key_conflict())
        };
    }
    let refund_id = store.next_id();
    let payment = store.change(id, |payment| {
        payment
            .refund(refund_id, amount, Some(idempotency), now)
            .map_err(refusal)
    })?;
    let refund = payment
        .refunds
        .last()
        .cloned()
        .ok_or_else(Refusal::not_found)?;
    Ok(Outcome::Made(payment, refund))
}

/// One refund of a payment.
pub(crate) fn read(
    state: &State,
    id: u64,
    refund_id: u64,
) -> Result<(Arc<Payment>, Refund), Refusal> {
    let payment = super::read(state, id)?;
    let refund = payment.refunds.iter().find(|refund| refund.id == refund_id);
    let refund = refund
        .cloned()
        .ok_or_else(|| Refusal::new(http::StatusCode::NOT_FOUND, None, "Refund not found"))?;
    Ok((payment, refund))
}

/// The JSON of a refund.
pub(crate) fn answer(payment: &Payment, refund: &Refund) -> Value {
    json!({
        "id": refund.id,
        "payment_id": payment.id,
        "amount": refund.amount,
        "metadata": {},
        "source": {"id": crate::COLLECTOR.to_string(), "name": "Balcão Sandbox", "type": "collector"},
        "date_created": refund.created,
        "unique_sequence_number": null,
        "refund_mode": "standard",
        "adjustment_amount": 0,
        "status": "approved",
        "reason": null,
        "labels": [],
        "amount_refunded_to_payer": refund.amount,
        "partition_details": [],
    })
}

fn requested_amount(body: &[u8]) -> Result<Option<Amount>, Refusal> {
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    let input: RefundRequest<'_> = serde_json::from_slice(body).map_err(|_| Refusal::params())?;
    match input.amount.filter(|amount| amount.get() != "null") {
        None => Ok(None),
        Some(json) => match Amount::of_json(json) {
            Some(amount) => Ok(Some(amount)),
            None => Err(refusal(ChangeError::Amount)),
        },
    }
}

fn with_key<'a>(payment: &'a Payment, key: &str) -> Option<&'a Idempotency> {
    let keys = payment
        .refunds
        .iter()
        .filter_map(|refund| refund.idempotency.as_ref());
    keys.into_iter()
        .find(|idempotency| &*idempotency.key == key)
}

fn refusal(refused: ChangeError) -> Refusal {
    match refused {
        ChangeError::Status => Refusal::bad(
            2063,
            "The action requested is not valid for the current payment state",
        ),
        other => super::refusal(other),
    }
}
