//! Receipts: the mail that buyers get of an approved payment, where the shop sends mail. How mail is sent is in `delivery`.

mod compose;

pub use delivery::mail::{Sender, Server};

use std::sync::Arc;

use db::{Error, Timestamp, Tx};
use delivery::mail::{Letters, Mail};

use crate::app::State;
use crate::orders::{self, LockedOrder};
use crate::payments::{self, Payment};
use crate::request::text::is_email;
use crate::webhooks::SERVICE;
use compose::Facts;

/// How receipts are sent.
#[derive(Debug, Clone)]
pub struct Receipts {
    /// The server that takes our mail.
    pub server: Server,
    /// The sender.
    pub from: Sender,
}

/// Nobody is told by mail of what the workers see: receipts are queued with the change that they tell of.
struct NoLetters;

impl Letters for NoLetters {}

/// How the workers send receipts; `None` when none are sent.
pub(crate) fn mail(receipts: Option<&Receipts>) -> Option<Mail> {
    let Receipts { server, from } = receipts?.clone();
    let letters = Arc::new(NoLetters);
    Some(Mail {
        server,
        from,
        letters,
    })
}

/// Queues the receipt of the payment in `row`, in the transaction that stores its approval. A payment has one, however often that is told.
pub(crate) async fn queue(
    tx: &mut Tx,
    state: &State,
    (row, payment): (i64, &Payment),
    order: Option<&LockedOrder>,
    now: Timestamp,
) -> Result<(), Error> {
    // The provider may show another address than the one that was checked.
    if state.config.receipts.is_none() || !is_email(&payment.payer.email) {
        return Ok(());
    }
    let order = match order {
        Some(order) => orders::find_by_row(tx, order.row).await?,
        None => None,
    };
    let reported = payment.date_approved.as_deref().map(Timestamp::parse);
    let facts = Facts {
        shop: &state.config.shop,
        payment,
        order: order.as_ref(),
        approved_at: reported.and_then(Result::ok).unwrap_or(now),
        locale: payments::find_language(tx, row).await?,
    };
    let mail = facts.mail(format!("receipt:{row}"));
    delivery::mail::queue(tx, &SERVICE, &mail, now)
        .await
        .map(drop)
}

/// Sends receipts until the service stops.
pub(crate) async fn run(state: State) {
    delivery::mail::run(state.outbox.clone(), || std::future::ready(Ok(()))).await;
}

/// Sends what is due, without sleeping; how many were taken by the server. For tests.
///
/// # Errors
/// When the database fails.
pub async fn pass(state: &State) -> Result<usize, Error> {
    delivery::mail::pass(&state.outbox).await
}
