//! The format of the provider's responses.

use serde_json::{Value, json};

use super::{Moment, Payment, Refund, View};

pub(super) fn payment(payment: &Payment, view: &View) -> Value {
    let is_card = payment.method != "pix" && payment.method != "bolbradesco";
    json!({
        "id": payment.id,
        "status": view.status,
        "status_detail": view.detail,
        "transaction_amount": reais(payment.cents),
        "transaction_amount_refunded": reais(view.refunds.iter()
            .filter(|refund| refund.status == "approved").map(|refund| refund.cents).sum()),
        "currency_id": "BRL",
        "payment_method_id": payment.method,
        "date_created": payment.created.to_string(),
        "date_last_updated": view.updated.to_string(),
        "date_approved": view.approved.map(|at| at.to_string()),
        "external_reference": payment.reference,
        "payer": { "email": null },
        "card": is_card.then(|| json!({ "first_six_digits": "423564", "last_four_digits": "5682" })),
        "refunds": refunds(view),
    })
}

/// The list of a payment's refunds.
pub(super) fn listed(view: &View, at: Moment<'_>) -> Value {
    let is_listed = |refund: &&Refund| refund.created + at.list_lag <= at.now;
    view.refunds.iter().filter(is_listed).map(refund).collect()
}

fn refunds(view: &View) -> Value {
    view.refunds.iter().map(refund).collect()
}

pub(super) fn refund(refund: &Refund) -> Value {
    json!({
        "id": refund.id,
        "amount": reais(refund.cents),
        "status": refund.status,
        "date_created": refund.created.to_string(),
    })
}

pub(super) fn error(status: u16, code: &str) -> Value {
    let cause = if code.is_empty() {
        json!([])
    } else {
        json!([{ "code": code, "description": "as simulated" }])
    };
    json!({ "status": status, "message": "as simulated", "error": "simulated", "cause": cause })
}

/// Amounts are sent as strings, which the service must accept as well as numbers.
fn reais(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}
