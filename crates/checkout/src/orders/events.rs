//! The events of orders, written in the transaction of the change.

use db::{Error, Timestamp, Tx};
use serde::Serialize;

use super::model::Order;
use super::read::with_payments;
use super::store;
use crate::payments::{self, PaymentBody};
use crate::webhooks::{EventType, Subject, publish};

/// `data` of an event: the order as the API shows it. The address of its page is left out, because
/// whoever has that address can see the order.
#[derive(Serialize)]
struct OrderPayload<'a> {
    #[serde(flatten)]
    order: &'a Order,
    /// Whether the order was paid after its expiry. Present only if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    late: Option<bool>,
    /// The payment that the order did not need. Present in overpayment events only.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment: Option<PaymentBody<'a>>,
}

/// Publishes that an order has ended.
pub(super) async fn publish_end(
    tx: &mut Tx,
    row: i64,
    kind: EventType,
    is_late: bool,
    now: Timestamp,
) -> Result<(), Error> {
    let order = find(tx, row).await?;
    let payload = OrderPayload {
        order: &order,
        late: is_late.then_some(true),
        payment: None,
    };
    publish(tx, kind, Subject::Order(row), &payload, now).await
}

/// Publishes that a payment was approved for an order that needs none.
pub(super) async fn publish_overpayment(
    tx: &mut Tx,
    row: i64,
    payment: i64,
    now: Timestamp,
) -> Result<(), Error> {
    let order = find(tx, row).await?;
    let payment = payments::find_by_row(tx, payment).await?;
    let payment = payment.ok_or_else(|| Error::other("a payment vanished"))?;
    let payload = OrderPayload {
        order: &order,
        late: None,
        payment: Some(PaymentBody::new(&payment)),
    };
    let subject = Subject::Order(row);
    publish(tx, EventType::OrderOverpaid, subject, &payload, now).await
}

async fn find(tx: &mut Tx, row: i64) -> Result<Order, Error> {
    let order = store::find_by_row(tx, row).await?;
    let found = order.map(|order| (row, order)).into_iter().collect();
    let found = with_payments(tx, found).await?.pop();
    found.ok_or_else(|| Error::other("an order vanished"))
}
