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
    let of_payments = OF_PAYMENTS
        .iter()
        .map(EventDescription::webhook::<PaymentEvent>);
    let of_orders = OF_ORDERS
        .iter()
        .map(EventDescription::webhook::<OrderEvent>);
    let (mut schemas, webhooks) = describe(of_payments.chain(of_orders));
    schemas.push((PaymentEvent::name().into_owned(), PaymentEvent::schema()));
    schemas.push((OrderEvent::name().into_owned(), OrderEvent::schema()));
    PaymentEvent::schemas(&mut schemas);
    (schemas, webhooks)
}

/// The description of an event type.
struct EventDescription {
    kind: EventType,
    id: &'static str,
    schema: &'static str,
    summary: &'static str,
    about: &'static str,
    example: fn() -> Value,
}

impl EventDescription {
    fn webhook<Data: ToSchema>(&self) -> Webhook {
        Webhook {
            kind: self.kind.name(),
            id: self.id,
            summary: self.summary,
            about: self.about,
            schema: self.schema,
            data: Ref::from_schema_name(Data::name()).into(),
            example: (self.example)(),
            example_time: "2026-11-20T12:00:00Z",
        }
    }
}

static OF_PAYMENTS: [EventDescription; 6] = [
    EventDescription {
        kind: EventType::PaymentPending,
        id: "onPaymentPending",
        schema: "PaymentPending",
        summary: "A payment waits to be paid",
        about: "A pix or a boleto was made. A payment under review is told once it is decided.",
        example: payments::pix_payment,
    },
    EventDescription {
        kind: EventType::PaymentApproved,
        id: "onPaymentApproved",
        schema: "PaymentApproved",
        summary: "A payment was approved",
        about: "The payment is approved. It may still be refunded or charged back.",
        example: payments::paid_pix,
    },
    EventDescription {
        kind: EventType::PaymentRejected,
        id: "onPaymentRejected",
        schema: "PaymentRejected",
        summary: "A payment was refused",
        about: "Refused by the provider or the bank. This payment stays refused; the buyer may make another.",
        example: payments::rejected_payment,
    },
    EventDescription {
        kind: EventType::PaymentCanceled,
        id: "onPaymentCanceled",
        schema: "PaymentCanceled",
        summary: "A payment was canceled",
        about: "The payment was canceled or expired before it was paid.",
        example: payments::cancelled_payment,
    },
    EventDescription {
        kind: EventType::PaymentRefunded,
        id: "onPaymentRefunded",
        schema: "PaymentRefunded",
        summary: "A payment was refunded, or a part of it",
        about: "Sent for each refund. `status` stays `approved` until the whole amount is refunded; `refunded_amount` is the sum so far.",
        example: payments::refunded_payment,
    },
    EventDescription {
        kind: EventType::PaymentChargedBack,
        id: "onPaymentChargedBack",
        schema: "PaymentChargedBack",
        summary: "A payment was charged back",
        about: "The payer's bank reversed the payment.",
        example: payments::disputed_payment,
    },
];

static OF_ORDERS: [EventDescription; 4] = [
    EventDescription {
        kind: EventType::OrderPaid,
        id: "onOrderPaid",
        schema: "OrderPaid",
        summary: "An order was paid",
        about: "Sent once, after `payment.approved` of the payment that paid the order. `late` is present if the buyer paid after the order's expiry.",
        example: orders::paid_event,
    },
    EventDescription {
        kind: EventType::OrderExpired,
        id: "onOrderExpired",
        schema: "OrderExpired",
        summary: "The time to pay an order is over",
        about: "A boleto that was made before, or a payment whose outcome was unknown, may still pay it, and what was paid in time may become known later: `order.paid` follows then.",
        example: orders::expired_event,
    },
    EventDescription {
        kind: EventType::OrderCanceled,
        id: "onOrderCanceled",
        schema: "OrderCanceled",
        summary: "An order was canceled",
        about: "The shop canceled the order. It can no longer be paid.",
        example: orders::canceled_event,
    },
    EventDescription {
        kind: EventType::OrderOverpaid,
        id: "onOrderOverpaid",
        schema: "OrderOverpaid",
        summary: "A payment was approved that pays for nothing",
        about: "The order was paid or canceled before, or the payment stands as canceled here. The order stays as it is; somebody has to look at \
                `payment`, unless the service gives second payments back by itself.",
        example: orders::overpaid_event,
    },
];
