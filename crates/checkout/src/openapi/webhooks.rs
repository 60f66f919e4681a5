//! The service's events in the OpenAPI document.

use delivery::openapi::{Webhook, describe};
use serde_json::Value;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::api::examples::{orders, payments};
use crate::orders::OrderEvent;
use crate::payments::PaymentEvent;
use crate::webhooks::EventType;

/// The schemas of all events by name, and the document's member `webhooks`.
pub(crate) fn described() -> (Vec<(String, RefOr<Schema>)>, Value) {
    let (mut schemas, webhooks) = describe(of_payments().into_iter().chain(of_orders()));
    schemas.push((PaymentEvent::name().into_owned(), PaymentEvent::schema()));
    schemas.push((OrderEvent::name().into_owned(), OrderEvent::schema()));
    PaymentEvent::schemas(&mut schemas);
    (schemas, webhooks)
}

/// The description of an event type whose data is `Data`.
fn webhook<Data: ToSchema>(
    kind: EventType,
    id: &'static str,
    summary: &'static str,
    about: &'static str,
    example: Value,
) -> Webhook {
    Webhook {
        kind: kind.name(),
        id,
        summary,
        about,
        schema: id.trim_start_matches("on"),
        data: Ref::from_schema_name(Data::name()).into(),
        example,
        example_time: "2026-11-20T12:00:00Z",
    }
}

fn of_payments() -> [Webhook; 6] {
    [
        webhook::<PaymentEvent>(
            EventType::PaymentPending,
            "onPaymentPending",
            "A payment waits to be paid",
            "A pix or a boleto was made. A payment under review is told once it is decided.",
            payments::pix_payment(),
        ),
        webhook::<PaymentEvent>(
            EventType::PaymentApproved,
            "onPaymentApproved",
            "A payment was approved",
            "The payment is approved. It may still be refunded or charged back.",
            payments::paid_pix(),
        ),
        webhook::<PaymentEvent>(
            EventType::PaymentRejected,
            "onPaymentRejected",
            "A payment was refused",
            "Refused by the provider or the bank. This payment stays refused; the buyer may make another.",
            payments::rejected_payment(),
        ),
        webhook::<PaymentEvent>(
            EventType::PaymentCanceled,
            "onPaymentCanceled",
            "A payment was canceled",
            "The payment was canceled or expired before it was paid.",
            payments::cancelled_payment(),
        ),
        webhook::<PaymentEvent>(
            EventType::PaymentRefunded,
            "onPaymentRefunded",
            "A payment was refunded, or a part of it",
            "Sent for each refund. `status` stays `approved` until the whole amount is refunded; `refunded_amount` is the sum so far.",
            payments::refunded_payment(),
        ),
        webhook::<PaymentEvent>(
            EventType::PaymentChargedBack,
            "onPaymentChargedBack",
            "A payment was charged back",
            "The payer's bank reversed the payment.",
            payments::disputed_payment(),
        ),
    ]
}

fn of_orders() -> [Webhook; 4] {
    [
        webhook::<OrderEvent>(
            EventType::OrderPaid,
            "onOrderPaid",
            "An order was paid",
            "Sent once, after `payment.approved` of the payment that paid the order. `late` is present if the buyer paid after the order's expiry.",
            orders::paid_event(),
        ),
        webhook::<OrderEvent>(
            EventType::OrderExpired,
            "onOrderExpired",
            "The time to pay an order is over",
            "A boleto that was made before, or a payment whose outcome was unknown, may still pay it, and what was paid in time may become known later: `order.paid` follows then.",
            orders::expired_event(),
        ),
        webhook::<OrderEvent>(
            EventType::OrderCanceled,
            "onOrderCanceled",
            "An order was canceled",
            "The shop canceled the order. It can no longer be paid.",
            orders::canceled_event(),
        ),
        webhook::<OrderEvent>(
            EventType::OrderOverpaid,
            "onOrderOverpaid",
            "A payment was approved that pays for nothing",
            "The order was paid or canceled before, or the payment stands as canceled here. The order stays as it is; somebody has to look at \
                `payment`, unless the service gives second payments back by itself.",
            orders::overpaid_event(),
        ),
    ]
}
