//! Receipts: mail to buyers about approved payments, if the shop sends mail. `delivery` sends it.

mod compose;

use db::{Error, Timestamp, Tx};

use crate::config::Config;
use crate::orders::{self, LockedOrder};
use crate::payments::{self, Payment};
use crate::request::text::is_email;
use crate::webhooks::SERVICE;
use compose::Facts;

/// Queues the receipt of the payment in `row`, in the transaction that stores its approval. A
/// payment gets one receipt, however often its approval is reported.
pub(crate) async fn queue(
    tx: &mut Tx,
    config: &Config,
    (row, payment): (i64, &Payment),
    order: Option<&LockedOrder>,
    now: Timestamp,
) -> Result<(), Error> {
    // The provider may report another address than the validated one.
    if config.receipts.is_none() || !is_email(&payment.payer.email) {
        return Ok(());
    }
    let order = match order {
        Some(order) => orders::find_by_row(tx, order.row).await?,
        None => None,
    };
    let facts = Facts {
        shop: &config.shop,
        payment,
        order: order.as_ref(),
        approved_at: payments::approved_at(payment.date_approved.as_deref(), now),
        locale: payments::find_language(tx, row).await?,
    };
    let mail = facts.mail(format!("receipt:{row}"));
    delivery::mail::queue(tx, &SERVICE, &mail, now)
        .await
        .map(drop)
}
