//! The service's events, as the API's document describes them.

use delivery::openapi::{Webhook, describe};
use serde_json::Value;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::EventType;
use crate::payments::{PaymentEvent, examples};

/// The schemas of all events by their names, and the document's member `webhooks`.
pub(crate) fn described() -> (Vec<(String, RefOr<Schema>)>, Value) {
    let (mut schemas, webhooks) = describe(EventType::ALL.map(webhook));
    schemas.push((PaymentEvent::name().into_owned(), PaymentEvent::schema()));
    PaymentEvent::schemas(&mut schemas);
    (schemas, webhooks)
}

fn webhook(kind: EventType) -> Webhook {
    let told = match kind {
        EventType::PaymentPending => (
            "onPaymentPending",
            "PaymentPending",
            "A payment waits to be paid",
            "A pix or a boleto was made. A payment under review is told once it is decided.",
            examples::pix_payment(),
        ),
        EventType::PaymentApproved => (
            "onPaymentApproved",
            "PaymentApproved",
            "A payment was approved",
            "It is paid. It may still be refunded or charged back.",
            examples::paid_pix(),
        ),
        EventType::PaymentRejected => (
            "onPaymentRejected",
            "PaymentRejected",
            "A payment was refused",
            "By the provider or the bank, for good. The buyer may pay again.",
            examples::rejected_payment(),
        ),
        EventType::PaymentCanceled => (
            "onPaymentCanceled",
            "PaymentCanceled",
            "A payment was canceled",
            "It was given up before it was paid, or its time ran out.",
            examples::cancelled_payment(),
        ),
        EventType::PaymentRefunded => (
            "onPaymentRefunded",
            "PaymentRefunded",
            "A payment was refunded, or a part of it",
            "Told of each refund. `status` stays `approved` until all is given back; `refunded_amount` is the sum so far.",
            examples::refunded_payment(),
        ),
        EventType::PaymentChargedBack => (
            "onPaymentChargedBack",
            "PaymentChargedBack",
            "A payment was charged back",
            "The payer's bank took it back.",
            examples::disputed_payment(),
        ),
    };
    let (id, schema, summary, about, example) = told;
    Webhook {
        kind: kind.name(),
        id,
        summary,
        about,
        schema,
        data: Ref::from_schema_name(PaymentEvent::name()).into(),
        example,
        example_time: "2026-11-20T12:00:00Z",
    }
}
